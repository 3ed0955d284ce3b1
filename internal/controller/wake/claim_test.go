package wake

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"refit.dev/refit/api/v1alpha1"
)

func TestAClaimWakesByWhatOthersDecideBy(t *testing.T) {
	step := func(name v1alpha1.StepName, state v1alpha1.StepState) func(*v1alpha1.NodeUpgrade) {
		return func(nu *v1alpha1.NodeUpgrade) {
			nu.Status.Step, nu.Status.Steps = name, []v1alpha1.StepStatus{{Name: name, State: state}}
		}
	}
	for what, tt := range map[string]struct {
		change func(*v1alpha1.NodeUpgrade)
		wakes  bool
	}{
		"nothing":                  {func(*v1alpha1.NodeUpgrade) {}, false},
		"another step":             {step(v1alpha1.StepDrain, v1alpha1.StepRunning), false},
		"the node is back":         {step(v1alpha1.StepUncordon, v1alpha1.StepSucceeded), true},
		"its phase":                {func(nu *v1alpha1.NodeUpgrade) { nu.Status.Phase = v1alpha1.NodeCompleted }, true},
		"it is begun":              {func(nu *v1alpha1.NodeUpgrade) { nu.Generation++ }, true},
		"a retry was taken up":     {func(nu *v1alpha1.NodeUpgrade) { nu.Status.Retried++ }, true},
		"it is being deleted":      {func(nu *v1alpha1.NodeUpgrade) { now := metav1.Now(); nu.DeletionTimestamp = &now }, true},
		"it is begun for a resume": {func(nu *v1alpha1.NodeUpgrade) { nu.Annotations = map[string]string{v1alpha1.AnnotationResume: "1"} }, true},
		"another reason": {func(nu *v1alpha1.NodeUpgrade) {
			nu.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Reason: "NodeLost"}}
		}, true},
	} {
		t.Run(what, func(t *testing.T) {
			before := &v1alpha1.NodeUpgrade{}
			after := before.DeepCopy()
			tt.change(after)
			NewWithT(t).Expect(OnClaim().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})).To(Equal(tt.wakes))
		})
	}
}
