package cli

import (
	"strings"
	"time"

	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/cli/wayback"
	"refit.dev/refit/internal/node/spec"
)

// write prints the way back for a person.
func (w *wayBack) write(a *app) {
	if w.Forecast == nil {
		a.say("There is no way back by version from %s: %s.", w.From, w.NoWay)
	} else {
		a.say("The way back to %s is an upgrade to it: `refit upgrade %s`.\n", w.To, w.To)
		w.Forecast.write(a)
	}
	a.table("What can be undone on a node", undoTable(w.Steps))
	w.writeSnapshots(a)
	if w.Forecast != nil {
		a.say("\nA snapshot is the last resort: it takes the whole cluster back in time. The way above does not need one.")
		return
	}
	w.writeRestore(a)
}

func undoTable(steps []wayback.StepUndo) print.Table {
	t := print.Table{Columns: []print.Column{{Name: "STEP"}, {Name: "UNDONE"}, {Name: "WHERE IT FAILS"}, {Name: "ON THE WAY TO AN EARLIER PATCH RELEASE"}}}
	for _, s := range steps {
		t.Rows = append(t.Rows, []string{string(s.Step), string(s.Undone), s.Failure, s.Back})
	}
	return t
}

func (w *wayBack) writeSnapshots(a *app) {
	switch {
	case w.ExternalEtcd:
		a.say("\netcd does not run on the control planes, so Refit took no snapshot of it: there is only what you keep where it runs.")
	case len(w.Snapshots) == 0:
		a.say("\nNo NodeUpgrade tells of an etcd snapshot any more. Look on each control plane: ls -l %s/", spec.EtcdDir)
	default:
		a.table("etcd snapshots that Refit took; the last three of a member stay on a node", snapshotTable(w.Snapshots))
	}
}

func snapshotTable(all []wayback.Snapshot) print.Table {
	t := print.Table{Columns: []print.Column{{Name: "ON NODE"}, {Name: "OF MEMBER"}, {Name: "TAKEN"}, {Name: "RAN"}, {Name: "BEFORE"}, {Name: "FILE"}}}
	for _, s := range all {
		taken := ""
		if !s.Taken.IsZero() {
			taken = s.Taken.UTC().Format(time.RFC3339)
		}
		t.Rows = append(t.Rows, []string{s.Node, s.Member, taken, s.From, s.Before, s.File})
	}
	return t
}

// writeRestore prints the commands, stage by stage.
func (w *wayBack) writeRestore(a *app) {
	target := "the version before"
	if w.To != "" {
		target = w.To
	}
	a.say("\nWhat is left is to go on, or to restore a snapshot. `refit resume` goes on with an upgrade that stopped, once its cause is gone.")
	a.say("A restore takes the whole cluster back to %s and to the time of the snapshot: everything that was written since is lost,", target)
	a.say("and the API does not answer meanwhile. etcd stays new, as it reads what the older one wrote; so do containerd, runc and the CNI")
	a.say("plugins. Run all of a stage, on each of its nodes as root, before the next one, and stop where a command fails: no data of")
	a.say("etcd is removed, and a stage may be begun again. Programs are in /usr/bin, unless the kubelet's unit starts it elsewhere. Where")
	a.say("the control planes run etcd of different minors, read etcd's guide first.")
	if w.chosen == nil && !w.ExternalEtcd {
		a.say("No snapshot is known: put the name of the file for FILE, and the node that has it for the one below.")
	}
	if w.guessed {
		a.say("Of some nodes no NodeUpgrade tells any more: UID is the newest folder in %s/upgrades on the node,", spec.StateDir)
		a.say("OLDVERSION what `ls /usr/bin/kubelet.refit-*` shows there.")
	}
	for i, s := range w.Restore {
		on := ""
		if len(s.On) > 0 {
			on = ", on " + strings.Join(s.On, ", ")
		}
		a.say("\n%d. %s%s", i+1, s.Title, on)
		for _, c := range s.Commands {
			a.say("     %s", c)
		}
	}
}
