package wake

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"refit.dev/refit/api/v1alpha1"
)

func TestAnUpgradeWakesByWhatMayBeDueNext(t *testing.T) {
	for what, tt := range map[string]struct {
		change func(*v1alpha1.KubernetesUpgrade)
		wakes  bool
	}{
		"nodes were counted": {func(u *v1alpha1.KubernetesUpgrade) {
			u.ResourceVersion, u.Status.Nodes.Upgraded, u.Status.Turn, u.Status.Waiting = "2", 7, 3, "w-1 is being upgraded"
			u.Status.Groups[0].Upgraded, u.Status.Conditions[0].Message = 7, "w-1 is being upgraded"
		}, false},
		"a person asks for something": {func(u *v1alpha1.KubernetesUpgrade) { u.Generation++ }, true},
		"another state":               {func(u *v1alpha1.KubernetesUpgrade) { u.Status.State = v1alpha1.StateUpgradingKubelets }, true},
		"a group is done":             {func(u *v1alpha1.KubernetesUpgrade) { u.Status.Groups[0].State = v1alpha1.GroupDone }, true},
		"a node of a group failed":    {func(u *v1alpha1.KubernetesUpgrade) { u.Status.Groups[0].Failed = 1 }, true},
		"another reason":              {func(u *v1alpha1.KubernetesUpgrade) { u.Status.Conditions[0].Reason = "Waiting" }, true},
		"it is resumed":               {func(u *v1alpha1.KubernetesUpgrade) { u.Status.Resumed = 1 }, true},
		"another of the same name":    {func(u *v1alpha1.KubernetesUpgrade) { u.UID = "other" }, true},
		"it is being deleted":         {func(u *v1alpha1.KubernetesUpgrade) { now := metav1.Now(); u.DeletionTimestamp = &now }, true},
	} {
		t.Run(what, func(t *testing.T) {
			before := &v1alpha1.KubernetesUpgrade{Status: v1alpha1.KubernetesUpgradeStatus{Groups: []v1alpha1.GroupStatus{{Name: "canary", Total: 9}},
				Conditions: []metav1.Condition{{Type: v1alpha1.ConditionReady, Reason: "Upgrading"}}}}
			after := before.DeepCopy()
			tt.change(after)
			NewWithT(t).Expect(OnUpgrade().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})).To(Equal(tt.wakes))
		})
	}
}
