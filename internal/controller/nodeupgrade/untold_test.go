package nodeupgrade

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

// atStep is a worker whose status tells of a step before, and a decision that tells of the next one.
func atStep(before, now v1alpha1.StepName) (*v1alpha1.NodeUpgrade, Decision) {
	nu := observed().Upgrade
	nu.Status = v1alpha1.NodeUpgradeStatus{Phase: v1alpha1.NodeUpgrading, Step: before, Pod: "worker-0-node-upgrader",
		Steps:      []v1alpha1.StepStatus{{Name: before, State: v1alpha1.StepRunning, Attempt: 1}},
		Conditions: []metav1.Condition{{Type: v1alpha1.ConditionReady, Reason: ReasonUpgrading, Message: "step " + string(before) + " is running"}}}
	d := Decision{Status: *nu.Status.DeepCopy()}
	d.Status.Step, d.Status.Conditions[0].Message = now, "step "+string(now)+" is running"
	d.Status.Steps = append(d.Status.Steps, v1alpha1.StepStatus{Name: now, State: v1alpha1.StepRunning, Attempt: 1})
	return nu, d
}

// told has no more progress to give.
func told() *untold {
	u := &untold{}
	for range tellBurst {
		nu, d := atStep(v1alpha1.StepDrain, v1alpha1.StepKubelet)
		u.keep(nu, &nu.Status, d, start)
	}
	return u
}

func TestOnlyProgressOfWorkersIsKept(t *testing.T) {
	for what, tt := range map[string]struct {
		change func(*v1alpha1.NodeUpgrade, *Decision)
		kept   bool
	}{
		"a step":          {func(*v1alpha1.NodeUpgrade, *Decision) {}, true},
		"its Pod is seen": {func(_ *v1alpha1.NodeUpgrade, d *Decision) { d.Status.PodUID = "made" }, true},
		"a step's condition": {func(_ *v1alpha1.NodeUpgrade, d *Decision) {
			meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionDrained, Status: metav1.ConditionTrue})
		}, true},
		"a control plane":     {func(nu *v1alpha1.NodeUpgrade, _ *Decision) { nu.Spec.NodeType = v1alpha1.NodeTypeControlPlane }, false},
		"the end":             {func(_ *v1alpha1.NodeUpgrade, d *Decision) { d.Status.Phase = v1alpha1.NodeCompleted }, false},
		"another reason":      {func(_ *v1alpha1.NodeUpgrade, d *Decision) { d.Status.Conditions[0].Reason = ReasonRetrying }, false},
		"a count":             {func(_ *v1alpha1.NodeUpgrade, d *Decision) { d.Status.Attempts++ }, false},
		"another Pod":         {func(nu *v1alpha1.NodeUpgrade, d *Decision) { nu.Status.PodUID, d.Status.PodUID = "first", "second" }, false},
		"an action":           {func(_ *v1alpha1.NodeUpgrade, d *Decision) { d.Action = Uncordon{} }, false},
		"the node is changed": {func(nu *v1alpha1.NodeUpgrade, _ *Decision) { nu.Status.Steps[0].Name = v1alpha1.StepPullImages }, false},
		"nothing at all":      {func(nu *v1alpha1.NodeUpgrade, d *Decision) { d.Status = nu.Status }, false},
	} {
		t.Run(what, func(t *testing.T) {
			nu, d := atStep(v1alpha1.StepDrain, v1alpha1.StepKubelet)
			tt.change(nu, &d)
			NewWithT(t).Expect(told().keep(nu, &nu.Status, d, start)).To(Equal(tt.kept))
		})
	}
}

func TestAFewNodesTellEveryStepAtOnce(t *testing.T) {
	g, u := NewWithT(t), told()
	nu, d := atStep(v1alpha1.StepDrain, v1alpha1.StepKubelet)
	g.Expect(u.keep(nu, &nu.Status, d, start)).To(BeTrue(), "that was too much at once")
	g.Expect(u.keep(nu, &nu.Status, d, start.Add(tellEvery))).To(BeFalse())
	g.Expect(u.keep(nu, &nu.Status, d, start.Add(tellEvery))).To(BeTrue(), "one each time")
	for range tellBurst {
		g.Expect(u.keep(nu, &nu.Status, d, start.Add((tellBurst+2)*tellEvery))).To(BeFalse())
	}
}

func TestWhatIsKeptIsTheBaseOfTheNextDecision(t *testing.T) {
	g, u := NewWithT(t), told()
	nu, d := atStep(v1alpha1.StepDrain, v1alpha1.StepKubelet)
	d.Status.PodUID = "made"
	read := nu.Status.DeepCopy()
	g.Expect(u.keep(nu, read, d, start)).To(BeTrue())

	u.restore(nu)
	g.Expect(nu.Status).To(Equal(d.Status))

	nu.Status = *read.DeepCopy()
	nu.Status.Attempts++
	written := nu.Status.DeepCopy()
	u.restore(nu)
	g.Expect(nu.Status).To(Equal(*written), "it was written since")

	nu.Status = *read.DeepCopy()
	u.forget(client.ObjectKeyFromObject(nu))
	u.restore(nu)
	g.Expect(nu.Status).To(Equal(*read))
}
