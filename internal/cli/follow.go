package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/feed"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/cli/view"
)

// watchTimeout bounds watching where --timeout does not: the largest clusters take days, a forgotten terminal is not to
// watch for ever.
const watchTimeout = 7 * 24 * time.Hour

// follow shows an upgrade until it has ended: the one of that name, or else the one under way.
func (a *app) follow(cmd *cobra.Command, name string) error {
	ctx, cancel := a.bounded(cmd, watchTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return err
	}
	f, err := feed.Open(ctx, c, a.clock)
	if err != nil {
		return err
	}
	seen := f.Seen()
	if name == "" {
		u := unfinished(seen.Upgrades)
		if u == nil {
			a.note("No upgrade is under way: there is nothing to watch.")
			return nil
		}
		name = u.Name
	}
	if seen.Upgrade(name) == nil {
		return fmt.Errorf("there is no upgrade %q", name)
	}
	ended := func(s feed.Seen) bool { return hasEnded(s.Upgrade(name)) }
	if a.interactive() {
		err = view.Live(ctx, a.liveInput(), a.Out, name, f, ended)
	} else {
		err = a.narrate(ctx, name, f, ended)
	}
	if err != nil && !errors.Is(err, view.ErrInterrupted) && ctx.Err() == nil {
		return err
	}
	return a.outcome(name, f.Seen(), ctx.Err())
}

// liveInput is where Ctrl-C comes from; without a terminal there, signals alone end the watching.
func (a *app) liveInput() io.Reader {
	if in, ok := a.In.(*os.File); ok && isTerminal(in) {
		return in
	}
	return nil
}

// narrate tells the upgrade in lines.
func (a *app) narrate(ctx context.Context, name string, f *feed.Feed, ended func(feed.Seen) bool) error {
	narrator := view.NewNarrator(name)
	ticker := a.clock.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		seen := f.Seen()
		for _, line := range narrator.Tell(seen, a.clock.Now()) {
			a.say("%s", line)
		}
		if ended(seen) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.Changed():
		case <-ticker.C(): // an API server that is away is told of, too
		}
	}
}

// hasEnded says whether nothing more is to be seen of an upgrade, unless a person does something.
func hasEnded(u *v1alpha1.KubernetesUpgrade) bool {
	if u == nil {
		return true
	}
	return u.Finished() || u.Status.State == v1alpha1.StateUpgradeFailed && u.Spec.Resume == u.Status.Resumed && !u.Spec.Abort
}

// afterAll is how long an upgrade took, in words; empty where that is not known.
func afterAll(u *v1alpha1.KubernetesUpgrade) string {
	if u.Status.StartedAt == nil || u.Status.CompletedAt == nil {
		return ""
	}
	return ", after " + print.Duration(u.Status.CompletedAt.Sub(u.Status.StartedAt.Time))
}

// outcome says how the upgrade ended, and gives the exit code for it.
func (a *app) outcome(name string, seen feed.Seen, stopped error) error {
	u := seen.Upgrade(name)
	switch {
	case u == nil:
		return fmt.Errorf("upgrade %s was deleted while it was watched", name)
	case u.Status.State == v1alpha1.StateUpgradeComplete:
		a.say("Every node runs %s%s.", u.Spec.ToVersion, afterAll(u))
		return nil
	case !hasEnded(u):
		why := "Watching was interrupted"
		if errors.Is(stopped, context.DeadlineExceeded) {
			why = "Watching took as long as --timeout allows"
		}
		a.note("%s; upgrade %s goes on. `refit status --watch` shows it again, `refit pause` and `refit abort` stop it.", why, name)
		return &exitError{code: ExitUnwatched, err: &silentError{}}
	}
	a.describe(u)
	code := ExitFailed
	if u.Status.State == v1alpha1.StateUpgradeAborted {
		code = ExitAborted
	}
	return &exitError{code: code, err: &silentError{}}
}
