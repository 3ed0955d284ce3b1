package rollout

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"refit.dev/refit/api/v1alpha1"
)

// failure says at which step a claim failed, and why. The claim's own message names the step already, where it is about one.
func failure(nu *v1alpha1.NodeUpgrade) string {
	why := "no reason was recorded; see `kubectl describe nodeupgrade " + nu.Name + "`"
	if c := meta.FindStatusCondition(nu.Status.Conditions, v1alpha1.ConditionReady); c != nil && c.Message != "" {
		why = c.Message
	}
	step := "step " + string(nu.Status.Step)
	if nu.Status.Step == "" || strings.Contains(why, step) {
		return why
	}
	return step + ": " + why
}

// failed is the same in a sentence that names the node.
func (s *standing) failed() string {
	why := failure(s.claim)
	if strings.HasPrefix(why, "step ") {
		return fmt.Sprintf("%s failed at %s", s.node.Name, why)
	}
	return fmt.Sprintf("%s failed: %s", s.node.Name, why)
}
