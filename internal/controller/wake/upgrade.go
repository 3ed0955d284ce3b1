package wake

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"refit.dev/refit/api/v1alpha1"
)

// OnUpgrade lets those changes of a KubernetesUpgrade through after which something else may be due. That nodes were counted, which the
// manager writes with every node, is none.
func OnUpgrade() predicate.Predicate { return predicate.Funcs{UpdateFunc: upgradeMatters} }

func upgradeMatters(e event.UpdateEvent) bool {
	before, ok1 := e.ObjectOld.(*v1alpha1.KubernetesUpgrade)
	after, ok2 := e.ObjectNew.(*v1alpha1.KubernetesUpgrade)
	return !ok1 || !ok2 || before.UID != after.UID || !equality.Semantic.DeepEqual(uncounted(before), uncounted(after))
}

// uncounted is an upgrade without what is only counted or told.
func uncounted(u *v1alpha1.KubernetesUpgrade) *v1alpha1.KubernetesUpgrade {
	out := u.DeepCopy()
	out.ResourceVersion, out.ManagedFields = "", nil
	s := &out.Status
	s.Nodes, s.Turn, s.Waiting = v1alpha1.NodeCounts{}, 0, ""
	for i := range s.Groups {
		s.Groups[i].Upgraded = 0
	}
	for i := range s.Conditions {
		s.Conditions[i].Message = ""
	}
	return out
}
