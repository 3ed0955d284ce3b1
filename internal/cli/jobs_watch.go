package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/cli/windows"
)

// jobsPoll is how often jobs are looked at while they are watched.
const jobsPoll = 2 * time.Second

// jobWatch shows jobs whenever they have changed.
type jobWatch struct {
	app   *app
	flags jobFlags
	// running are the jobs that had not ended when they were last seen, failed those of them that failed.
	running, failed map[windows.Name]bool
	objects         *stream
	shown           string
	lost            bool
}

func (a *app) watchJobs(cmd *cobra.Command, f jobFlags) error {
	ctx, cancel := a.bounded(cmd, watchTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return err
	}
	known, err := readMaintenance(ctx, c, f.namespace)
	if err != nil {
		return err
	}
	w := &jobWatch{app: a, flags: f, failed: map[windows.Name]bool{}, objects: newStream(a.Out, f.output)}
	w.note(known.jobs)
	if len(w.running) == 0 {
		a.note("No UpgradeJob is under way or to come: there is nothing to watch.")
		return nil
	}
	err = w.follow(ctx, c, known)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		a.note("Watching has ended; the jobs go on. `refit jobs` shows them, and `refit jobs why` what the latest waits for.")
		return &exitError{code: ExitUnwatched, err: &silentError{}}
	case err != nil:
		return err
	case len(w.failed) > 0:
		return &exitError{code: ExitFailed, err: &silentError{}}
	}
	return nil
}

// follow looks again and again, until no job is left that has not ended.
func (w *jobWatch) follow(ctx context.Context, c client.Reader, known *maintenanceSeen) error {
	ticker := w.app.clock.NewTicker(jobsPoll)
	defer ticker.Stop()
	for {
		if err := w.show(known); err != nil {
			return err
		}
		if len(w.running) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C():
		}
		if now, err := readMaintenance(ctx, c, w.flags.namespace); err == nil {
			w.lost, known = false, now
			w.note(known.jobs)
		} else if !w.lost && ctx.Err() == nil {
			w.lost = true
			w.app.note("The jobs cannot be read now; they go on by themselves, and are looked for again: %v", err)
		}
	}
}

// note remembers which jobs have not ended, and which of those that were watched failed.
func (w *jobWatch) note(jobs []v1beta1.UpgradeJob) {
	running := map[windows.Name]bool{}
	for i := range jobs {
		name := windows.NameOf(&jobs[i])
		if !jobs[i].Finished() {
			running[name] = true
		} else if w.running[name] && jobs[i].Is(v1beta1.ConditionFailed) {
			w.failed[name] = true
		}
	}
	w.running = running
}

// show writes what has changed: to programs the objects, to people the table, on a terminal in place of the one before.
func (w *jobWatch) show(known *maintenanceSeen) error {
	if w.flags.output.Machine() {
		return w.objects.write(jobObjects(known.jobs))
	}
	table := jobTable(known, w.app.clock.Now())
	lines := strings.Join(table.Lines(w.flags.output == print.Wide), "\n") + "\n"
	if w.app.interactive() {
		w.shown = lines
		return print.All(w.app.Out, []byte("\x1b[H\x1b[2J"+lines+"\nCtrl-C stops watching; the jobs go on.\n"))
	}
	for _, row := range table.Rows {
		row[timeColumn] = ""
	}
	steady := strings.Join(table.Lines(true), "\n")
	if steady == w.shown {
		return nil
	}
	w.shown = steady
	return print.All(w.app.Out, []byte(lines+"\n"))
}

// jobObjects are what --watch writes for programs.
func jobObjects(jobs []v1beta1.UpgradeJob) []streamed {
	var all []streamed
	for i := range jobs {
		all = append(all, streamed{windows.NameOf(&jobs[i]).String(), withKind(&jobs[i])})
	}
	return all
}
