package cli

import (
	"context"
	"time"

	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/hook"
	"refit.dev/refit/internal/maintenance"
)

// jobStory is all that explains a job.
type jobStory struct {
	job    *v1beta1.UpgradeJob
	config *v1beta1.UpgradeConfig
	zone   *time.Location
	now    time.Time
	// suspensions are those of its namespace.
	suspensions []v1beta1.UpgradeSuspensionWindow
	// target is what it upgrades, as it was seen; nil where it was not.
	target *maintenance.Target
	// unserved says that it is OpenShift, and that the cluster is not.
	unserved bool
	// upgrade is the KubernetesUpgrade that it drives; nil where there is none.
	upgrade *v1alpha1.KubernetesUpgrade
	pools   []mcfgv1.MachineConfigPool
	// runs are the Jobs of hooks that exist, by name; nil where they could not be read.
	runs map[string]bool
}

// tell reads what there is to be told of a job. What cannot be read is left out.
func (a *app) tell(ctx context.Context, c client.Client, job *v1beta1.UpgradeJob, known *maintenanceSeen) *jobStory {
	s := &jobStory{job: job, config: known.configOf(job), zone: known.zoneOf(job), now: a.clock.Now(), suspensions: known.suspensions}
	for _, read := range []func(context.Context){
		a.optional("What the job upgrades", func(ctx context.Context) error { return s.readTarget(ctx, a, c) }),
		a.optional("The KubernetesUpgrades", func(ctx context.Context) error { return s.readUpgrade(ctx, c) }),
		a.optional("The machine config pools", func(ctx context.Context) error { return s.readPools(ctx, c) }),
		a.optional("The Jobs of the hooks", func(ctx context.Context) error { return s.readRuns(ctx, c) }),
	} {
		read(ctx)
	}
	return s
}

// optional reads what may be left out of a story: what the cluster does not serve is left out without a word.
func (a *app) optional(what string, read func(context.Context) error) func(context.Context) {
	return func(ctx context.Context) {
		if err := read(ctx); err != nil && !meta.IsNoMatchError(err) {
			a.note("%s could not be read: %v", what, err)
		}
	}
}

func (s *jobStory) readTarget(ctx context.Context, a *app, c client.Client) error {
	set, err := a.targets(c)
	if err != nil {
		return err
	}
	if s.unserved = s.job.Spec.Config.Target == v1beta1.TargetOpenShift && !set.IsOpenShift; s.unserved {
		return nil
	}
	seen := set.For(s.job.Spec.Config.Target).Observe(ctx, s.job)
	if seen.Problem != "" {
		a.note("What the job upgrades: %s", seen.Problem)
	}
	s.target = &seen
	return nil
}

func (s *jobStory) readUpgrade(ctx context.Context, c client.Reader) error {
	upgrades, err := listUpgrades(ctx, c)
	if err != nil {
		return err
	}
	for i := range upgrades {
		if upgrades[i].Annotations[v1beta1.AnnotationLock] == maintenance.Name(s.job) {
			s.upgrade = &upgrades[i]
			return nil
		}
	}
	return nil
}

func (s *jobStory) readPools(ctx context.Context, c client.Reader) error {
	if s.target == nil || s.target.Kind != v1beta1.TargetOpenShift {
		return nil
	}
	var list mcfgv1.MachineConfigPoolList
	if err := c.List(ctx, &list); err != nil {
		return err
	}
	s.pools = list.Items
	return nil
}

func (s *jobStory) readRuns(ctx context.Context, c client.Reader) error {
	if len(s.job.Status.HookTracker) == 0 {
		return nil
	}
	var list batchv1.JobList
	if err := c.List(ctx, &list, client.InNamespace(s.job.Namespace), client.MatchingLabels{v1beta1.LabelJob: hook.JobLabel(s.job.Name)}); err != nil {
		return err
	}
	s.runs = map[string]bool{}
	for i := range list.Items {
		s.runs[list.Items[i].Name] = true
	}
	return nil
}
