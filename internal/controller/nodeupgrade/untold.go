package nodeupgrade

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

const (
	// tellEvery bounds how often the progress of workers is told, that of all of them together: every step of thousands would be most of
	// all that is written. A few nodes tell every step at once.
	tellEvery = 2 * time.Second
	// tellBurst is how much of it may come at once.
	tellBurst = 10
	// tellAgain is when to try again, give or take: chance sees to it that each has its turn.
	tellAgain = 15 * time.Second
)

// untold keeps the statuses that were decided and are not written yet, as they say no more than how far a worker is. They are the
// base of the next decision, as if they had been written; a manager that takes over reads the same from the Pod. Where that is gone
// meanwhile, one interruption goes uncounted.
type untold struct {
	mu     sync.Mutex
	tell   *rate.Limiter
	byName map[types.NamespacedName]kept
}

// kept is the status as the API server has it, and the one that was decided.
type kept struct{ read, decided v1alpha1.NodeUpgradeStatus }

// restore puts what was kept in the place of the status that was read, unless that has been written since.
func (u *untold) restore(nu *v1alpha1.NodeUpgrade) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if k, ok := u.byName[client.ObjectKeyFromObject(nu)]; ok && equality.Semantic.DeepEqual(k.read, nu.Status) {
		nu.Status = *k.decided.DeepCopy()
	}
}

// keep says whether the status that was decided is kept for now, instead of being written.
func (u *untold) keep(nu *v1alpha1.NodeUpgrade, read *v1alpha1.NodeUpgradeStatus, d Decision, now time.Time) bool {
	if d.Action != nil || nu.Spec.NodeType != v1alpha1.NodeTypeWorker || !onlyProgress(read, &d.Status) {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.tell == nil {
		u.tell, u.byName = rate.NewLimiter(rate.Every(tellEvery), tellBurst), map[types.NamespacedName]kept{}
	}
	if u.tell.AllowN(now, 1) {
		return false
	}
	u.byName[client.ObjectKeyFromObject(nu)] = kept{read: *read.DeepCopy(), decided: *d.Status.DeepCopy()}
	return true
}

// forget is for a status that was written, or is gone.
func (u *untold) forget(name types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.byName, name)
}

// onlyProgress says that two statuses differ, and by nothing that anybody decides by: the steps, but for whether the node was changed,
// and the Pod that was seen.
func onlyProgress(before, after *v1alpha1.NodeUpgradeStatus) bool {
	return !equality.Semantic.DeepEqual(before, after) &&
		before.Touched() == after.Touched() && (before.PodUID == "" || before.PodUID == after.PodUID) &&
		equality.Semantic.DeepEqual(withoutProgress(before), withoutProgress(after))
}

func withoutProgress(s *v1alpha1.NodeUpgradeStatus) *v1alpha1.NodeUpgradeStatus {
	out := *s
	out.Steps, out.Step, out.PodUID, out.Conditions = nil, "", "", nil
	if ready := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady); ready != nil {
		out.Conditions = []metav1.Condition{{Type: ready.Type, Status: ready.Status, Reason: ready.Reason}}
	}
	return &out
}
