package observe

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/paging"
)

// begun selects the claims whose nodes may be out of service by them: those that are neither held nor completed. A claim that is held while
// its node is being changed cannot be (a rule of the kind), and one that is completed is never begun again.
var begun = fields.AndSelectors(fields.OneTermNotEqualSelector("spec.hold", "true"), fields.OneTermNotEqualSelector("status.completed", "true"))

// nodeUpgrades are the claims on nodes. Fresh ones are the cache's, with those that the API server says are begun: a cache that is
// behind must not hide that a node is out. That it still shows one as being changed which is done meanwhile takes nothing out.
func (o *Observer) nodeUpgrades(ctx context.Context, f Freshness) ([]*v1alpha1.NodeUpgrade, error) {
	own := client.InNamespace(v1alpha1.Namespace)
	var live []*v1alpha1.NodeUpgrade
	if f == Fresh {
		var err error
		live, err = o.ask(ctx, own, client.MatchingFieldsSelector{Selector: begun})
		if apierrors.IsBadRequest(err) { // Kubernetes before v1.31 does not select by these fields, nor does a kind that was installed before them
			return o.ask(ctx, own)
		}
		if err != nil {
			return nil, err
		}
	}
	cached, err := o.kept().NodeUpgrades(ctx)
	if err != nil {
		return nil, err
	}
	return overlay(cached, live), nil
}

// overlay puts what the API server says in place of what the cache says, where that is older. The list, though not what it points to, is the
// caller's own.
func overlay(cached, live []*v1alpha1.NodeUpgrade) []*v1alpha1.NodeUpgrade {
	at := make(map[string]*v1alpha1.NodeUpgrade, len(live))
	for _, nu := range live {
		at[nu.Name] = nu
	}
	for i, nu := range cached {
		now, ok := at[nu.Name]
		if !ok {
			continue
		}
		if newer(now, nu) {
			cached[i] = now
		}
		delete(at, now.Name)
	}
	for _, nu := range live {
		if _, missing := at[nu.Name]; missing {
			cached = append(cached, nu)
		}
	}
	return cached
}

// newer says that a is, or may be, of a later time than b.
func newer(a, b *v1alpha1.NodeUpgrade) bool {
	order, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	return err != nil || order > 0
}

// ask asks the API server, page by page.
func (o *Observer) ask(ctx context.Context, options ...client.ListOption) ([]*v1alpha1.NodeUpgrade, error) {
	var list v1alpha1.NodeUpgradeList
	if err := (paging.Reader{Reader: o.Live}).List(ctx, &list, options...); err != nil {
		return nil, fmt.Errorf("list NodeUpgrades: %w", err)
	}
	return pointers(list.Items), nil
}
