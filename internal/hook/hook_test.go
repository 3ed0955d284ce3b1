package hook

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// fromTheSeed is the hook of the seed, as it stands.
const fromTheSeed = `
apiVersion: managedupgrade.appuio.io/v1beta1
kind: UpgradeJobHook
metadata:
  name: cluster-upgrade-notify-ext
spec:
  events: [Create, Start, Finish, Success, Failure]
  run: Next
  failurePolicy: Ignore
  selector:
    matchLabels:
      upgrade-config: cluster-upgrade
  template:
    spec:
      template:
        spec:
          containers:
          - name: notify
            image: curlimages/curl:8.1.2
            args:
            - -XPOST
            - -d
            - '{"event": $(EVENT_NAME), "version": $(JOB_spec_desiredVersion_image)}'
            - https://example.com/webhook
            env:
            - name: OWN
              value: about $(EVENT_name)
          restartPolicy: Never
      backoffLimit: 3
      ttlSecondsAfterFinished: 43200
      activeDeadlineSeconds: 300
`

func seedHook(g Gomega) *v1beta1.UpgradeJobHook {
	h := &v1beta1.UpgradeJobHook{}
	g.Expect(yaml.UnmarshalStrict([]byte(fromTheSeed), h)).To(Succeed())
	h.Namespace = "refit-system"
	return h
}

func upgradeJob() *v1beta1.UpgradeJob {
	return &v1beta1.UpgradeJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "refit-system", Name: "cluster-upgrade-1609531200-ef11c47", UID: "u1",
			Labels:        map[string]string{"my-var.io/info": `say "hi" $(HOME)`},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}},
		Spec: v1beta1.UpgradeJobSpec{StartAfter: metav1.NewTime(time.Unix(1609531200, 0)),
			DesiredVersion: &configv1.Update{Version: "4.6.1", Image: "quay.io/openshift-release-dev/ocp-release@sha256:1234567890abcdef"}},
	}
}

// expand is how the kubelet replaces variables: those that came before are known.
func expand(text string, env []corev1.EnvVar) string {
	known := map[string]string{}
	replace := func(s string) string {
		s = strings.ReplaceAll(s, "$$", "\x00")
		for name, value := range known {
			s = strings.ReplaceAll(s, "$("+name+")", value)
		}
		return strings.ReplaceAll(s, "\x00", "$")
	}
	for _, e := range env {
		known[e.Name] = replace(e.Value)
	}
	return replace(text)
}

func TestTheSeedsHookWorksAsItStands(t *testing.T) {
	g := NewWithT(t)
	made, err := Job(seedHook(g), upgradeJob(), Event{Name: v1beta1.EventStart, Time: "2021-01-01T22:00:00Z", Reason: "Started", Message: "go"})
	g.Expect(err).NotTo(HaveOccurred())
	c := made.Spec.Template.Spec.Containers[0]
	g.Expect(expand(c.Args[2], c.Env)).To(Equal(`{"event": "Start", "version": "quay.io/openshift-release-dev/ocp-release@sha256:1234567890abcdef"}`))
	g.Expect(expand("$(OWN)", c.Env)).To(Equal(`about "Start"`), "a variable of the template may refer to an injected one")
	g.Expect(made.Spec.BackoffLimit).To(HaveValue(BeEquivalentTo(3)))
	g.Expect(made.Spec.TTLSecondsAfterFinished).To(HaveValue(BeEquivalentTo(43200)))
	g.Expect(made.Finalizers).To(ContainElement(v1beta1.FinalizerHookJob))
	g.Expect(metav1.IsControlledBy(made, upgradeJob())).To(BeTrue())
}

func TestTheEnvironmentIsWhatTheSeedPromises(t *testing.T) {
	g := NewWithT(t)
	made, err := Job(seedHook(g), upgradeJob(), Event{Name: v1beta1.EventMachineConfigPoolUnpause, Time: "t", Reason: "r", Message: "m", Pool: "night"})
	g.Expect(err).NotTo(HaveOccurred())
	values := map[string]string{}
	env := made.Spec.Template.Spec.Containers[0].Env
	for _, e := range env {
		g.Expect(validation.IsEnvVarName(e.Name)).To(BeEmpty(), e.Name)
		values[e.Name] = expand("$("+e.Name+")", env)
	}
	g.Expect(values["EVENT_name"]).To(Equal(`"MachineConfigPoolUnpause"`))
	g.Expect(values["EVENT_pool"]).To(Equal(`"night"`))
	g.Expect(values["JOB_metadata_name"]).To(Equal(`"cluster-upgrade-1609531200-ef11c47"`))
	g.Expect(values["JOB_metadata_labels_my_var_io_info"]).To(Equal(`"say \"hi\" $(HOME)"`), "a dollar is a dollar")
	g.Expect(values["JOB_spec_desiredVersion_force"]).To(Equal("false"))
	g.Expect(values["META_hook"]).To(Equal(`"cluster-upgrade-notify-ext"`))
	g.Expect(values["META_events_0"]).To(Equal(`"Create"`))
	var event map[string]string
	g.Expect(json.Unmarshal([]byte(values["EVENT"]), &event)).To(Succeed())
	g.Expect(event).To(HaveKeyWithValue("reason", "r"))
	var job v1beta1.UpgradeJob
	g.Expect(json.Unmarshal([]byte(values["JOB"]), &job)).To(Succeed())
	g.Expect(job.Spec.DesiredVersion.Version).To(Equal("4.6.1"))
	for name := range values {
		g.Expect(name).NotTo(ContainSubstring("managedFields"))
	}
}

func TestAnEnvironmentThatIsTooLargeLosesItsLongestValues(t *testing.T) {
	g := NewWithT(t)
	job := upgradeJob()
	job.Annotations = map[string]string{"large": strings.Repeat("x", 400<<10)}
	made, err := Job(seedHook(g), job, Event{Name: v1beta1.EventStart})
	g.Expect(err).NotTo(HaveOccurred())
	size := 0
	names := map[string]bool{}
	for _, e := range made.Spec.Template.Spec.Containers[0].Env {
		size += len(e.Name) + len(e.Value)
		names[e.Name] = true
	}
	g.Expect(size).To(BeNumerically("<=", largest))
	g.Expect(names).To(HaveKey("EVENT_NAME"))
	g.Expect(names).To(HaveKey("JOB_spec_desiredVersion_image"))
}

func TestNamesAreUniqueAndShortEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,60}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,60}[a-z0-9])?)?`)
		job, hook, pool := name.Draw(t, "job"), name.Draw(t, "hook"), name.Draw(t, "pool")
		got := Name(job, hook, v1beta1.EventMachineConfigPoolUnpause, pool)
		if problems := validation.IsDNS1123Subdomain(got); len(problems) > 0 || len(got) > 63 {
			t.Fatalf("%s: %v", got, problems)
		}
		if got == Name(job, hook, v1beta1.EventMachineConfigPoolUnpause, pool+"x") || got == Name(job, hook, v1beta1.EventStart, "") {
			t.Fatalf("%s is not unique", got)
		}
		if problems := validation.IsValidLabelValue(label(job)); len(problems) > 0 {
			t.Fatalf("%s: %v", label(job), problems)
		}
	})
}

func TestWhatBecameOfARun(t *testing.T) {
	condition := func(kind batchv1.JobConditionType) []batchv1.JobCondition {
		return []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue, Reason: "DeadlineExceeded", Message: "too long"}}
	}
	now := metav1.Now()
	for _, tt := range []struct {
		name          string
		job           batchv1.Job
		ended, failed bool
		message       string
	}{
		{"one that runs", batchv1.Job{}, false, false, ""},
		{"one that is complete", batchv1.Job{Status: batchv1.JobStatus{Conditions: condition(batchv1.JobComplete)}}, true, false, ""},
		{"one that failed", batchv1.Job{Status: batchv1.JobStatus{Conditions: condition(batchv1.JobFailed)}}, true, true, "DeadlineExceeded: too long"},
		{"one that is about to fail", batchv1.Job{Status: batchv1.JobStatus{Conditions: condition(batchv1.JobFailureTarget)}}, false, false, ""},
		{"one that somebody deleted", batchv1.Job{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}}, true, true, "deleted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			r := Run(&tt.job)
			g.Expect(r.Ended).To(Equal(tt.ended))
			g.Expect(r.Failed).To(Equal(tt.failed))
			g.Expect(r.Message).To(ContainSubstring(tt.message))
		})
	}
}

func TestWhatPeopleAreTold(t *testing.T) {
	ended := func(kind, reason, message string) *v1beta1.UpgradeJob {
		j := upgradeJob()
		j.Status.Conditions = []metav1.Condition{{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message}}
		return j
	}
	without := upgradeJob()
	without.Spec.DesiredVersion = nil
	for _, tt := range []struct {
		job    *v1beta1.UpgradeJob
		event  v1beta1.HookEvent
		reason string
		says   string
	}{
		{upgradeJob(), v1beta1.EventCreate, "Create", "upgrades the cluster to 4.6.1; it starts at 2021-01-01 20:00 UTC"},
		{without, v1beta1.EventStart, "Start", "begins: it runs hooks and health checks"},
		{upgradeJob(), v1beta1.EventMachineConfigPoolUnpause, "MachineConfigPoolUnpause", "machine config pool night"},
		{ended("Failed", "TimedOut", "too long"), v1beta1.EventFailure, "TimedOut", "failed (TimedOut): too long"},
		{ended("Succeeded", "Skipped", "freeze"), v1beta1.EventFinish, "Skipped", "was skipped: freeze"},
		{ended("Succeeded", "Succeeded", "The cluster runs 4.6.1"), v1beta1.EventSuccess, "Succeeded", "succeeded: The cluster runs 4.6.1"},
	} {
		g := NewWithT(t)
		e := About(tt.job, tt.event, "night", time.Unix(0, 0))
		g.Expect(e.Reason).To(Equal(tt.reason))
		g.Expect(e.Message).To(ContainSubstring(tt.says))
		g.Expect(e.Time).To(Equal("1970-01-01T00:00:00Z"))
	}
}
