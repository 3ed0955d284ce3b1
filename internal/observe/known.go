package observe

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

// knownFor is how long what the API server said of claims is relied on, together with what this process wrote since. It bounds for how
// long somebody who begins a node by hand can go unseen where a watch hangs.
const knownFor = 30 * time.Second

// known are the claims that the cache may not have yet as the API server has them: what it said when it was asked, and what this process
// wrote. Each is forgotten once the cache has it.
type known struct {
	mu     sync.Mutex
	asked  time.Time
	claims map[string]learned
}

type learned struct {
	claim *v1alpha1.NodeUpgrade
	at    time.Time
}

// good says that the API server was asked lately enough.
func (k *known) good(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.asked.IsZero() && now.Sub(k.asked) <= knownFor
}

// learn keeps claims as the API server returned them.
func (k *known) learn(now time.Time, claims ...*v1alpha1.NodeUpgrade) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keep(now, claims)
}

func (k *known) keep(now time.Time, claims []*v1alpha1.NodeUpgrade) {
	if k.claims == nil {
		k.claims = map[string]learned{}
	}
	for _, nu := range claims {
		if old, ok := k.claims[nu.Name]; !ok || newer(nu, old.claim) {
			k.claims[nu.Name] = learned{claim: nu, at: now}
		}
	}
}

// answered keeps what the API server said now to a question that was asked at a time. What was known before that, and is not in the answer, is
// forgotten: it is gone, or can have no node out any more.
func (k *known) answered(asked, now time.Time, claims []*v1alpha1.NodeUpgrade) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name, l := range k.claims {
		if l.at.Before(asked) {
			delete(k.claims, name)
		}
	}
	if k.asked.Before(asked) {
		k.asked = asked
	}
	k.keep(now, claims)
}

// all is what is known, without what nobody relies on any more: such a claim was deleted, say, before the cache ever had it.
func (k *known) all(now time.Time) map[string]*v1alpha1.NodeUpgrade {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make(map[string]*v1alpha1.NodeUpgrade, len(k.claims))
	for name, l := range k.claims {
		if now.Sub(l.at) > 2*knownFor {
			delete(k.claims, name)
			continue
		}
		out[name] = l.claim
	}
	return out
}

// forget leaves out claims that the cache has now, unless later ones were learned meanwhile.
func (k *known) forget(claims []*v1alpha1.NodeUpgrade) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, nu := range claims {
		if k.claims[nu.Name].claim == nu {
			delete(k.claims, nu.Name)
		}
	}
}

// gone leaves out a claim that is no more, unless there is another one of its name.
func (k *known) gone(nu *v1alpha1.NodeUpgrade) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l, ok := k.claims[nu.Name]; ok && l.claim.UID == nu.UID {
		delete(k.claims, nu.Name)
	}
}

// overlay puts what is known in place of what the cache says, where that is older, and tells of which claims it is not. The list, though not
// what it points to, is the caller's own.
func overlay(cached []*v1alpha1.NodeUpgrade, known map[string]*v1alpha1.NodeUpgrade) (all, had []*v1alpha1.NodeUpgrade) {
	for i, nu := range cached {
		k, ok := known[nu.Name]
		switch {
		case !ok:
			continue
		case newer(k, nu):
			cached[i] = k
		default:
			had = append(had, k)
		}
		delete(known, nu.Name)
	}
	for _, k := range known {
		cached = append(cached, k)
	}
	return cached, had
}

// newer says that a is, or may be, of a later time than b.
func newer(a, b *v1alpha1.NodeUpgrade) bool {
	order, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	return err != nil || order > 0
}

// Wrote tells of objects that this process wrote, as the API server returned them; nil ones, and those that are no claims on nodes, are
// left out.
func (o *Observer) Wrote(objects ...client.Object) {
	now := o.Clock.Now()
	for _, object := range objects {
		if nu, ok := object.(*v1alpha1.NodeUpgrade); ok && nu != nil {
			o.known.learn(now, nu)
		}
	}
}

// Gone tells of a claim that the API server no longer has.
func (o *Observer) Gone(nu *v1alpha1.NodeUpgrade) { o.known.gone(nu) }
