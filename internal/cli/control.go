package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

// errNoUpgrade says that there is nothing to control.
var errNoUpgrade = errors.New("no upgrade is under way: start one with `refit upgrade VERSION`")

// control changes the spec of an upgrade: the named one, or else the one under way, or else the latest. change says what
// was done, and may refuse.
func (a *app) control(cmd *cobra.Command, name string, change func(context.Context, client.Client, *v1alpha1.KubernetesUpgrade) (string, error)) error {
	ctx, cancel := a.bounded(cmd, defaultTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return err
	}
	var said string
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		upgrade, err := findUpgrade(ctx, c, name)
		if err != nil {
			return err
		}
		if upgrade == nil {
			return errNoUpgrade
		}
		before := upgrade.DeepCopy()
		if said, err = change(ctx, c, upgrade); err != nil {
			return err
		}
		// The resourceVersion goes along: what change decided on is what gets changed.
		return c.Patch(ctx, upgrade, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
	if err != nil {
		return err
	}
	a.say("%s", said)
	return nil
}
