package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/wayback"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

// managerReplicas are those of the manager as `refit install` sets it up.
const managerReplicas = 2

// wayBack is how the cluster comes back to an earlier version.
type wayBack struct {
	// From is the highest version that runs, To the one to come back to; To is empty where there is none, and none was asked for.
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	// Forecast of the way back by version; nil where NoWay says why there is none.
	Forecast *forecastOutput `json:"forecast,omitempty"`
	NoWay    string          `json:"noWay,omitempty"`
	// Steps say of each step of a node what can be undone.
	Steps []wayback.StepUndo `json:"steps"`
	// Snapshots that Refit took, ExternalEtcd where it takes none.
	Snapshots    []wayback.Snapshot `json:"snapshots"`
	ExternalEtcd bool               `json:"externalEtcd,omitempty"`
	// Restore are the commands that bring a snapshot back, where nothing else is left.
	Restore []wayback.Stage `json:"restore,omitempty"`

	chosen *wayback.Snapshot
	// guessed says that some commands hold placeholders.
	guessed bool
}

func (a *app) rollback(cmd *cobra.Command, to string, f planFlags) error {
	ctx, cancel := a.bounded(cmd, defaultTimeout)
	defer cancel()
	c, err := a.connect()
	if err != nil {
		return err
	}
	seen, err := a.observation(ctx, c)
	if err != nil {
		return err
	}
	w, err := newWayBack(seen, to, f)
	if err != nil {
		return err
	}
	if err := w.look(ctx, c, seen); err != nil {
		return err
	}
	if f.output.Machine() {
		err = f.output.Value(a.Out, w)
	} else {
		w.write(a)
	}
	if err == nil && w.Forecast == nil {
		return &exitError{code: ExitBlocked, err: &silentError{}}
	}
	return err
}

// newWayBack looks for a way back by version.
func newWayBack(seen *snapshot.Cluster, to string, f planFlags) (*wayBack, error) {
	w := &wayBack{From: highest(seen), To: to, Steps: wayback.Steps}
	switch {
	case w.From == "":
		return nil, &version.UnobservedError{}
	case to == "":
		w.To = latestBack(seen, w.From)
	case version.Compare(to, w.From) >= 0:
		return nil, usageError(fmt.Errorf("%s is not older than %s, which runs: `refit plan %s` shows the way there", to, w.From, to))
	}
	switch {
	case w.To == "":
		w.NoWay = noneBack(seen, w.From)
		return w, nil
	case version.Minor(w.To) != version.Minor(w.From):
		w.NoWay = fmt.Sprintf("%s is of another minor than %s, and Kubernetes never goes back a minor", w.To, w.From)
		return w, nil
	case !mayGoBack(seen, w.From, w.To):
		w.NoWay = fmt.Sprintf("KubernetesVersion %s does not name %s in spec.downgradeTo: whoever built the bundle does not vouch for that way", w.From, w.To)
		return w, nil
	}
	forecast, err := forecastOf(seen, w.To, f.plan, f.exclude)
	if err != nil {
		return nil, err
	}
	output := forecast.output()
	w.Forecast = &output
	return w, nil
}

// look finds the snapshots and, where nothing else is left, writes the commands.
func (w *wayBack) look(ctx context.Context, c client.Client, seen *snapshot.Cluster) error {
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace("kube-system"), client.MatchingLabels{"tier": "control-plane"}); err != nil {
		return fmt.Errorf("list the Pods of control planes: %w", err)
	}
	nodes, claims, err := listNodes(ctx, c)
	if err != nil {
		return err
	}
	members := wayback.Members(pods.Items, nodes)
	w.ExternalEtcd, w.Snapshots = len(members) == 0, wayback.Snapshots(claims)
	if w.Forecast != nil {
		return nil
	}
	w.chosen = wayback.Choose(w.Snapshots, w.From, w.To)
	if w.To == "" && w.chosen != nil {
		w.To = w.chosen.From
	}
	r := wayback.Restore{From: w.From, Members: members, Snapshot: w.chosen, Hosts: hostsOf(seen, claims, w.From, w.To), Replicas: managerReplicas}
	var manager appsv1.Deployment
	if c.Get(ctx, client.ObjectKey{Namespace: v1alpha1.Namespace, Name: "refit-manager"}, &manager) == nil && manager.Spec.Replicas != nil {
		r.Replicas = max(1, *manager.Spec.Replicas)
	}
	w.guessed = slices.ContainsFunc(r.Hosts, func(h wayback.Host) bool { return h.Guessed })
	w.Restore = r.Stages()
	return nil
}

// hostsOf are the nodes, control planes first, with what the upgrade away from the version to come back to kept on each. Where its NodeUpgrade is
// gone, placeholders stand for that.
func hostsOf(seen *snapshot.Cluster, claims []v1alpha1.NodeUpgrade, runs, to string) []wayback.Host {
	var masters, workers []wayback.Host
	for i := range seen.Nodes {
		n := &seen.Nodes[i]
		h := wayback.Host{Name: n.Name, ControlPlane: n.ControlPlane}
		if to != "" && (isNewer(n.KubeletVersion, to) || isNewer(version.ControlPlane(n), to)) || n.KubeletVersion == runs || version.ControlPlane(n) == runs {
			h.Old, h.State, h.Guessed = cmp.Or(to, "OLDVERSION"), spec.UpgradeDir("UID"), true
		}
		if away, dropped := awayFrom(claims, n.Name, runs, to); away != nil {
			h.Old, h.State, h.Guessed, h.Dropped = away.Status.FromVersion, spec.UpgradeDir(string(away.UID)), false, dropped
		}
		if n.ControlPlane {
			masters = append(masters, h)
		} else {
			workers = append(workers, h)
		}
	}
	return append(masters, workers...)
}

// awayFrom is the upgrade that took a node away from the version to come back to, or from another patch release of it; where none is named, the one
// to the version that runs. A later upgrade of the node has dropped the programs that it kept. nil where none is known.
func awayFrom(claims []v1alpha1.NodeUpgrade, node, runs, to string) (away *v1alpha1.NodeUpgrade, dropped bool) {
	last := ""
	for i := range claims {
		nu := &claims[i]
		if nu.Spec.Machine.Name != node || !nu.Status.Touched() && !nu.Status.Completed {
			continue
		}
		at := nu.Spec.KubernetesVersion
		if last == "" || version.Compare(at, last) > 0 {
			last = at
		}
		if to == "" && at != runs || to != "" && (version.Minor(nu.Status.FromVersion) != version.Minor(to) || version.Compare(at, to) <= 0) {
			continue
		}
		if away == nil || version.Compare(at, away.Spec.KubernetesVersion) < 0 {
			away = nu
		}
	}
	return away, away != nil && away.Spec.KubernetesVersion != last
}

// isNewer says whether a version is of a later minor.
func isNewer(v, than string) bool {
	return version.Minor(v) != "" && version.Minor(v) != version.Minor(than) && version.Compare(v, than) > 0
}
