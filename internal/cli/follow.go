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

// watching is how an upgrade is shown until it has ended.
type watching struct {
	// upgrade by name; empty for the one under way.
	upgrade string
	output  print.Format
	// objects are what a program reads: -o json and yaml write each anew whenever it changes.
	objects func(seen feed.Seen, upgrade string) []streamed
}

// follow shows an upgrade until it has ended.
func (a *app) follow(cmd *cobra.Command, w watching) error {
	if w.output == print.Wide {
		return usageError(errors.New("-o wide does not go with --watch, which has a view of its own: leave one of them out, or take -o json or -o yaml"))
	}
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
	if w.upgrade == "" {
		u := unfinished(seen.Upgrades)
		if u == nil {
			a.note("No upgrade is under way: there is nothing to watch.")
			return nil
		}
		w.upgrade = u.Name
	}
	if seen.Upgrade(w.upgrade) == nil {
		return unknownUpgrade(w.upgrade, upgradeNamesOf(seen.Upgrades))
	}
	err = a.show(ctx, w, f)
	if err != nil && !errors.Is(err, view.ErrInterrupted) && ctx.Err() == nil {
		return err
	}
	return a.outcome(w, f.Seen(), ctx.Err())
}

// show shows the upgrade as the output wants it.
func (a *app) show(ctx context.Context, w watching, f *feed.Feed) error {
	ended := func(s feed.Seen) bool { return hasEnded(s.Upgrade(w.upgrade)) }
	switch {
	case w.output.Machine():
		s := newStream(a.Out, w.output)
		return a.each(ctx, f, ended, func(seen feed.Seen) error { return s.write(w.objects(seen, w.upgrade)) })
	case a.interactive():
		return view.Live(ctx, a.liveInput(), a.Out, w.upgrade, f, ended)
	}
	narrator := view.NewNarrator(w.upgrade)
	return a.each(ctx, f, ended, func(seen feed.Seen) error {
		for _, line := range narrator.Tell(seen, a.clock.Now()) {
			a.say("%s", line)
		}
		return nil
	})
}

// liveInput is where Ctrl-C comes from; without a terminal there, signals alone end the watching.
func (a *app) liveInput() io.Reader {
	if in, ok := a.In.(*os.File); ok && isTerminal(in) {
		return in
	}
	return nil
}

// each hands on what is seen, whenever there is something new and every second, until the upgrade has ended.
func (a *app) each(ctx context.Context, f *feed.Feed, ended func(feed.Seen) bool, tell func(feed.Seen) error) error {
	ticker := a.clock.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		seen := f.Seen()
		if err := tell(seen); err != nil {
			return err
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

// outcome says how the upgrade ended, and gives the exit code for it. To a program, the last object has said it.
func (a *app) outcome(w watching, seen feed.Seen, stopped error) error {
	name := w.upgrade
	u := seen.Upgrade(name)
	switch {
	case u == nil:
		return fmt.Errorf("upgrade %s was deleted while it was watched", name)
	case u.Status.State == v1alpha1.StateUpgradeComplete && w.output.Machine():
		return nil
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
	if !w.output.Machine() {
		a.describe(u, claimsAmong(seen.NodeUpgrades, name), among(seen.Nodes))
	}
	code := ExitFailed
	if u.Status.State == v1alpha1.StateUpgradeAborted {
		code = ExitAborted
	}
	return &exitError{code: code, err: &silentError{}}
}
