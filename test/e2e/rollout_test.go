package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/jobtemplate"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/invariant"
)

// TestRollout takes six small workers through a plan: a canary, two zones side by side, a critical node and a budget. A canary that fails
// stops it before the zones; so does a critical node; it is aborted and resumed; and the whole cluster goes back to an earlier patch version.
func TestRollout(t *testing.T) {
	if !*all {
		t.Skip("needs another version of Kubernetes to be built; -all runs it")
	}
	s := shape{controlPlanes: 1, workers: 6, maxUnavailable: 2, to: []string{earlierPatch, bed.To}}
	c := bringUp(t, "rollout", s)
	_, held := c.watch(s)
	c.carefulPlan()
	c.t.Log("\n" + c.refit("plan", bed.To, "--plan", "careful"))
	passed := t.Run("a canary that fails stops it before the zones", func(t *testing.T) { c.as(t).canaryFails() }) &&
		t.Run("a critical node stops it at once", func(t *testing.T) { c.as(t).criticalFails() }) &&
		t.Run("it is aborted and resumed", func(t *testing.T) { c.as(t).abortAndResume() }) &&
		t.Run("the whole cluster goes back to an earlier patch version", func(t *testing.T) { c.as(t).rollBack() })
	if passed {
		held()
	}
}

// carefulPlan labels the workers and writes the plan: worker-1 is the canary, the others are in two zones, worker-4 is critical.
func (c *cluster) carefulPlan() {
	for i := 1; i <= 6; i++ {
		c.label(fmt.Sprintf("worker-%d", i), corev1.LabelTopologyZone, string(rune('a'+i%2)))
	}
	zone := func(z string) v1alpha1.NodeSet {
		return v1alpha1.NodeSet{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelTopologyZone: z}}}
	}
	fifth := intstr.FromString("20%")
	p := &v1alpha1.RolloutPlan{ObjectMeta: metav1.ObjectMeta{Name: "careful"}, Spec: v1alpha1.RolloutPlanSpec{
		Critical: &v1alpha1.NodeSet{Nodes: []string{"worker-4"}}, FailureBudget: &fifth,
		Groups: []v1alpha1.NodeGroup{
			{Name: "canary", NodeSet: v1alpha1.NodeSet{Nodes: []string{"worker-1"}}, Soak: &metav1.Duration{Duration: 5 * time.Second}, Verify: c.verification()},
			{Name: "zone-a", NodeSet: zone("a"), Approval: true},
			{Name: "zone-b", NodeSet: zone("b"), BesidePrevious: true},
		}}}
	c.Expect(c.Client.Create(c.ctx, p)).To(Succeed())
}

func (c *cluster) label(node, key, value string) {
	var n corev1.Node
	c.Expect(c.Client.Get(c.ctx, client.ObjectKey{Name: node}, &n)).To(Succeed())
	patch := client.MergeFrom(n.DeepCopy())
	n.Labels[key] = value
	c.Expect(c.Client.Patch(c.ctx, &n, patch)).To(Succeed())
}

// verification is a Job that succeeds at once.
func (c *cluster) verification() *v1alpha1.Verification {
	var v v1alpha1.KubernetesVersion
	c.Expect(c.Client.Get(c.ctx, client.ObjectKey{Name: bed.To}, &v)).To(Succeed())
	return &v1alpha1.Verification{Timeout: &metav1.Duration{Duration: 5 * time.Minute}, Template: jobtemplate.Template{JobTemplateSpec: batchv1.JobTemplateSpec{
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers:  []corev1.Container{{Name: "verify", Image: "registry.k8s.io/pause:" + v.Component("pause"), Command: []string{"/pause", "-v"}}}}}}}}}
}

// programs is where a node keeps the programs of the version.
const programs = spec.ProgramsDir + "/versions/" + bed.To

// unstageable has a node fail before it is taken out of service, as a bad disk would: its folder for the programs is a file.
func (c *cluster) unstageable(node string) {
	c.on(node, "mkdir -p "+spec.ProgramsDir+"/versions && touch "+programs)
}

func (c *cluster) stageable(node string) { c.on(node, "rm -f "+programs) }

// spoil has a node fail when its turn comes, after it was staged: what it has staged is gone, and cannot be fetched again.
func (c *cluster) spoil(node string) {
	c.untilPhase(node, v1alpha1.NodeStaged)
	c.on(node, "rm -rf "+programs+" && touch "+programs)
}

// atVersion are the workers whose kubelet runs a version.
func (c *cluster) atVersion(version string) []string {
	var nodes corev1.NodeList
	c.Expect(c.Client.List(c.ctx, &nodes)).To(Succeed())
	var out []string
	for i := range nodes.Items {
		if n := &nodes.Items[i]; strings.HasPrefix(n.Name, "worker-") && n.Status.NodeInfo.KubeletVersion == version {
			out = append(out, n.Name)
		}
	}
	return out
}

func (c *cluster) canaryFails() {
	c.unstageable("worker-1")
	c.start("--plan", "careful")
	why := c.untilState(v1alpha1.StateUpgradeFailed)
	c.Expect(why).To(ContainSubstring("worker-1"))
	c.Expect(c.atVersion(bed.To)).To(BeEmpty(), "the zones were not begun")
	c.t.Log("\n" + c.refit("status"))
	c.stageable("worker-1")
	c.spoil("worker-4")
	c.t.Log(c.refit("resume"))
	c.untilGroup("zone-a", v1alpha1.GroupApproval)
	c.t.Log("\n" + c.refit("status"))
	c.t.Log(c.refit("approve", "zone-a"))
}

func (c *cluster) criticalFails() {
	why := c.untilState(v1alpha1.StateUpgradeFailed)
	c.Expect(why).To(And(ContainSubstring("worker-4"), ContainSubstring("critical")))
	c.Expect(len(c.atVersion(bed.To))).To(BeNumerically("<", 6), "it stopped at once")
	c.t.Log("\n" + c.refit("status"))
	c.stageable("worker-4")
	c.t.Log(c.refit("retry", "worker-4"))
}

func (c *cluster) abortAndResume() {
	before := len(c.atVersion(bed.To))
	c.until("another node to be done", upgradeDeadline, func(context.Context) (bool, string, error) {
		done := c.atVersion(bed.To)
		return len(done) > before, fmt.Sprint(done), nil
	})
	c.t.Log(c.refit("abort"))
	c.untilState(v1alpha1.StateUpgradeAborted)
	done := c.atVersion(bed.To)
	c.t.Logf("aborted with %v at %s", done, bed.To)
	c.Expect(len(done)).To(BeNumerically("<", 6), "some are left")
	c.t.Log("\n" + c.refit("nodes"))
	c.t.Log(c.refit("resume"))
	c.complete()
	c.ended(invariant.End{AllAt: bed.To})
}

func (c *cluster) rollBack() {
	c.t.Log("\n" + c.refit("plan", "--rollback"))
	c.t.Log(c.refit("upgrade", earlierPatch, "--yes", "--plan", "careful"))
	c.t.Log(c.refit("approve", "zone-a"))
	c.complete()
	c.Expect(c.atVersion(earlierPatch)).To(HaveLen(6))
	c.everywhereAt(earlierPatch)
}

// untilGroup waits until a group of the plan is in a state.
func (c *cluster) untilGroup(name string, state v1alpha1.GroupState) {
	c.until("group "+name+" to be "+string(state), upgradeDeadline, func(ctx context.Context) (bool, string, error) {
		u, err := c.upgrade(ctx)
		if err != nil {
			return false, "", err
		}
		for _, g := range u.Status.Groups {
			if g.Name == name {
				return g.State == state, fmt.Sprintf("%s, %s: %s", g.State, u.Status.State, u.Status.Waiting), nil
			}
		}
		return false, "no group yet", nil
	})
}
