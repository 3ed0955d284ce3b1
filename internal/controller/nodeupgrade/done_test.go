package nodeupgrade

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
)

func TestNothingIsLookedAtForANodeThatIsDone(t *testing.T) {
	now := metav1.Now()
	for what, tt := range map[string]struct {
		change func(*v1alpha1.NodeUpgrade)
		done   bool
	}{
		"it is completed":        {func(*v1alpha1.NodeUpgrade) {}, true},
		"it is being deleted":    {func(nu *v1alpha1.NodeUpgrade) { nu.DeletionTimestamp = &now }, false},
		"it was changed since":   {func(nu *v1alpha1.NodeUpgrade) { nu.Generation++ }, false},
		"it failed":              {func(nu *v1alpha1.NodeUpgrade) { nu.Status.Phase, nu.Status.Completed = v1alpha1.NodeFailed, false }, false},
		"nothing is known of it": {func(nu *v1alpha1.NodeUpgrade) { nu.Status = v1alpha1.NodeUpgradeStatus{} }, false},
	} {
		t.Run(what, func(t *testing.T) {
			nu := &v1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
			nu.Status.Phase, nu.Status.Completed, nu.Status.ObservedGeneration = v1alpha1.NodeCompleted, true, 2
			tt.change(nu)
			NewWithT(t).Expect(done(nu)).To(Equal(tt.done))
		})
	}
}
