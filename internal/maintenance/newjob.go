package maintenance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/schedule"
)

// newJob is the job of a slot: it pins the version, and keeps a copy of the configuration.
func newJob(c *v1beta1.UpgradeConfig, slot schedule.Slot, version *configv1.Release) *v1beta1.UpgradeJob {
	template := c.Spec.JobTemplate.DeepCopy()
	job := &v1beta1.UpgradeJob{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Labels: template.Metadata.Labels, Annotations: maps.Clone(template.Metadata.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, v1beta1.GroupVersion.WithKind("UpgradeConfig"))},
		},
		Spec: v1beta1.UpgradeJobSpec{StartAfter: metav1.NewTime(slot.At), StartBefore: metav1.NewTime(slot.StartBefore), Config: template.Spec.Config},
	}
	if version != nil {
		job.Spec.DesiredVersion = &configv1.Update{Version: version.Version, Image: version.Image}
	}
	job.Name = jobName(c, job)
	return job
}

// jobName is the config's name, the time of the start, and a hash of the version and the configuration (seed:
// cluster-upgrade-1609531200-ef11c47).
func jobName(c *v1beta1.UpgradeConfig, job *v1beta1.UpgradeJob) string {
	const longest = 253 // a name of a Kubernetes object
	data, err := json.Marshal(struct {
		Version *configv1.Update
		Config  v1beta1.UpgradeConfigJobTemplate
	}{job.Spec.DesiredVersion, c.Spec.JobTemplate})
	if err != nil { // its parts were read from JSON
		data = []byte(c.ResourceVersion)
	}
	sum := sha256.Sum256(data)
	suffix := fmt.Sprintf("-%d-%s", job.Spec.StartAfter.Unix(), hex.EncodeToString(sum[:])[:7])
	name := c.Name
	if len(name)+len(suffix) > longest {
		name = strings.TrimRight(name[:longest-len(suffix)], "-.")
	}
	return name + suffix
}

// latestJob is the one that starts last; nil where there is none.
func latestJob(jobs []v1beta1.UpgradeJob) *v1beta1.UpgradeJob {
	var latest *v1beta1.UpgradeJob
	for i := range jobs {
		if latest == nil || latest.Spec.StartAfter.Time.Before(jobs[i].Spec.StartAfter.Time) {
			latest = &jobs[i]
		}
	}
	return latest
}

// history is the jobs that are too old to be kept. The latest is always kept, and so is one that has not ended.
func history(c *v1beta1.UpgradeConfig, jobs []v1beta1.UpgradeJob, latest *v1beta1.UpgradeJob) []string {
	limit := func(n *int32) int {
		if n == nil {
			return v1beta1.DefaultHistoryLimit
		}
		return int(*n)
	}
	sorted := slices.SortedFunc(slices.Values(jobs), func(a, b v1beta1.UpgradeJob) int { return b.Spec.StartAfter.Compare(a.Spec.StartAfter.Time) })
	kept := map[string]int{}
	limits := map[string]int{v1beta1.ConditionSucceeded: limit(c.Spec.SuccessfulJobsHistoryLimit), v1beta1.ConditionFailed: limit(c.Spec.FailedJobsHistoryLimit)}
	var old []string
	for i := range sorted {
		j := &sorted[i]
		end := j.Outcome()
		if end == nil || j.DeletionTimestamp != nil {
			continue
		}
		kept[end.Type]++
		if most := limits[end.Type]; most > 0 && kept[end.Type] > most && j.Name != latest.Name {
			old = append(old, j.Name)
		}
	}
	return old
}
