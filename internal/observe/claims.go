package observe

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/paging"
)

// begun selects the claims whose nodes may be out of service by them: those that are neither held nor completed. A claim that is held while
// its node is being changed cannot be (a rule of the kind), and one that is completed is never begun again.
var begun = fields.AndSelectors(fields.OneTermNotEqualSelector("spec.hold", "true"), fields.OneTermNotEqualSelector("status.completed", "true"))

// nodeUpgrades are the claims on nodes: the cache's, with those that the API server is known to have later ones of. Fresh asks it for those that
// are begun, and Known does where that is too long ago: a cache that is behind must not hide that a node is out. That a claim is still shown as
// being changed which is done meanwhile takes nothing out.
func (o *Observer) nodeUpgrades(ctx context.Context, f Freshness) ([]*v1alpha1.NodeUpgrade, error) {
	now := o.Clock.Now()
	if f == Fresh || f == Known && !o.known.good(now) {
		live, err := o.begun(ctx)
		if err != nil {
			return nil, err
		}
		o.known.answered(now, o.Clock.Now(), live)
	}
	// What is known is taken before the cache is looked at: what another look forgets since, because the cache has it, this one finds there.
	known := o.known.all(now)
	cached, err := o.kept().NodeUpgrades(ctx)
	if err != nil {
		return nil, err
	}
	all, had := overlay(cached, known)
	o.known.forget(had)
	return all, nil
}

// begun are the claims, as the API server has them, whose nodes may be out of service by them.
func (o *Observer) begun(ctx context.Context) ([]*v1alpha1.NodeUpgrade, error) {
	own := client.InNamespace(v1alpha1.Namespace)
	live, err := o.ask(ctx, own, client.MatchingFieldsSelector{Selector: begun})
	if apierrors.IsBadRequest(err) { // Kubernetes before v1.31 does not select by these fields, nor does a kind that was installed before them
		return o.ask(ctx, own)
	}
	return live, err
}

// ask asks the API server, page by page.
func (o *Observer) ask(ctx context.Context, options ...client.ListOption) ([]*v1alpha1.NodeUpgrade, error) {
	var list v1alpha1.NodeUpgradeList
	if err := (paging.Reader{Reader: o.Live}).List(ctx, &list, options...); err != nil {
		return nil, fmt.Errorf("list NodeUpgrades: %w", err)
	}
	return pointers(list.Items), nil
}
