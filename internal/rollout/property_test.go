package rollout_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/snapshot/fixture"
	"refit.dev/refit/internal/version"
)

// history is a world in which anything may happen, watched.
type history struct {
	*world
	t *rapid.T
	// seen are the observations made so far, for controllers whose caches are behind.
	seen []*snapshot.Cluster
	most int
	// joined counts the machines that joined.
	joined int
	// log is what happened, shown when a claim is broken.
	log []string
}

// Whatever happens, in whatever order, with whatever cache: the claims at the head of the design hold at every step; and once
// nothing breaks any more, the upgrade completes.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		for range rapid.IntRange(20, 160).Draw(t, "length") {
			h.event()
			h.invariants()
		}
		h.heal()
		h.completes()
	})
}

func newHistory(t *rapid.T) *history {
	from := rapid.SampledFrom([]string{"v1.34.4", "v1.35.4", "v1.36.1", "v1.36.3"}).Draw(t, "from")
	to := rapid.SampledFrom([]string{"v1.36.3", "v1.36.3", "v1.37.0", "v1.38.0"}).Draw(t, "to")
	if from == to {
		to = "v1.36.1" // a downgrade
	}
	return newHistoryOf(t, from, to)
}

func newHistoryOf(t *rapid.T, from, to string) *history {
	masters := rapid.SampledFrom([]int{1, 1, 2, 3, 3, 5}).Draw(t, "masters")
	workers := rapid.IntRange(0, 7).Draw(t, "workers")
	c, u := fixture.Cluster(masters, workers, from), fixture.Upgrade(to)
	c.Versions = append(c.Versions, fixture.Version("v1.37.0", "v1.36"), fixture.Version("v1.38.0", "v1.37"))
	if rapid.Bool().Draw(t, "old kubelets") {
		for i := range c.Nodes {
			if n := &c.Nodes[i]; !n.ControlPlane && rapid.Bool().Draw(t, "old") {
				n.KubeletVersion = "v1.33.2"
			}
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "manual") == 0 {
		u.Spec.Mode = v1alpha1.ModeManual
	}
	h := &history{t: t, world: newWorld(c, u), most: rapid.IntRange(1, 3).Draw(t, "limit")}
	limit := intstr.FromInt32(int32(h.most))
	spec := v1alpha1.RolloutPlanSpec{MaxUnavailable: &limit, StagingParallelism: int32(rapid.IntRange(1, 4).Draw(t, "staging"))}
	if rapid.Bool().Draw(t, "networking first") {
		spec.Networking = v1alpha1.NetworkingFirst
	}
	if rapid.Bool().Draw(t, "groups") {
		randomGroups(t, c, &spec)
	}
	plan(c, u, spec)
	if rapid.Bool().Draw(t, "networking") {
		c.Versions[3].Spec.Networking = &v1alpha1.Networking{}
	}
	if rapid.IntRange(0, 3).Draw(t, "careless") == 0 {
		u.Spec.ExcludedGates = []string{gate.Etcd, gate.ControlPlanePods, gate.NodesReady}
	}
	h.onAction = h.watch
	h.seen = []*snapshot.Cluster{h.observe()}
	return h
}

// randomGroups puts the workers into groups, and lets some fail.
func randomGroups(t *rapid.T, c *snapshot.Cluster, spec *v1alpha1.RolloutPlanSpec) {
	var names []string
	for i := range c.Nodes {
		if !c.Nodes[i].ControlPlane {
			names = append(names, c.Nodes[i].Name)
			c.Nodes[i].Labels = map[string]string{"zone": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone")}
		}
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "number of groups") {
		g := v1alpha1.NodeGroup{Name: fmt.Sprintf("g%d", i), Approval: rapid.Bool().Draw(t, "approval"),
			BesidePrevious: i > 0 && rapid.Bool().Draw(t, "beside")}
		if len(names) > 0 {
			g.Nodes = rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, len(names), rapid.ID[string]).Draw(t, "nodes")
		}
		if rapid.Bool().Draw(t, "spread") {
			g.SpreadTopologyKey = "zone"
		}
		if rapid.Bool().Draw(t, "own limit") {
			most := intstr.FromInt(rapid.IntRange(1, 3).Draw(t, "group's limit"))
			g.MaxUnavailable = &most
		}
		spec.Groups = append(spec.Groups, g)
	}
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

func (h *history) broken(format string, args ...any) {
	for _, l := range h.log[max(0, len(h.log)-60):] {
		h.t.Log(l)
	}
	h.t.Fatalf(format, args...)
}

// look is an observation: fresh, or an earlier one with fresh claims.
func (h *history) look() *snapshot.Cluster {
	now := h.observe()
	h.seen = append(h.seen, now)
	back := rapid.SampledFrom([]int{0, 0, 0, 1, 2, 5, 10}).Draw(h.t, "behind")
	if back == 0 {
		return now
	}
	old := h.freshClaims(h.seen[max(0, len(h.seen)-1-back)])
	old.Upgrades = now.Upgrades
	return old
}

func (h *history) event() {
	t := h.t
	switch e := rapid.IntRange(0, 99).Draw(t, "event"); {
	case e < 2:
		h.ask()
		h.approve()
	case e < 20:
		h.note("reconcile the upgrade")
		h.reconcileUpgrade(h.look())
	case e < 40:
		h.note("reconcile control planes")
		h.reconcileMasters(h.look())
	case e < 85:
		if len(h.NodeUpgrades) > 0 {
			nu := h.NodeUpgrades[rapid.IntRange(0, len(h.NodeUpgrades)-1).Draw(t, "claim")]
			o := rapid.SampledFrom([]outcome{well, well, well, well, well, well, well, well, well, fails, skips}).Draw(t, "outcome")
			h.tick(nu, o)
			h.note("%s is %s, step %s", nu.Name, nu.Status.Phase, nu.Status.Step)
		}
	case e < 88:
		n := h.someNode()
		n.Ready = !n.Ready
		h.note("%s Ready: %t", n.Name, n.Ready)
	case e < 90:
		if n := h.someNode(); n.CordonedBy == "" {
			n.Cordoned = !n.Cordoned
			h.note("%s cordoned by a person: %t", n.Name, n.Cordoned)
		}
	case e < 91:
		m := &h.Etcd.Members[rapid.IntRange(0, len(h.Etcd.Members)-1).Draw(t, "member")]
		m.Healthy = !m.Healthy
		h.note("member %s healthy: %t", m.Name, m.Healthy)
	case e < 93:
		h.upgrade.Spec.Paused = !h.upgrade.Spec.Paused
		h.note("paused: %t", h.upgrade.Spec.Paused)
	case e < 94:
		h.upgrade.Spec.Abort = !h.upgrade.Spec.Abort
		h.note("abort: %t", h.upgrade.Spec.Abort)
	case e < 95:
		h.upgrade.Spec.Resume++
		h.note("resume %d", h.upgrade.Spec.Resume)
	case e < 96:
		h.replace(h.someNode())
	default:
		if h.networking.Version != "" && !h.networking.Done {
			if e < 98 {
				h.networking.Done = true
			} else {
				h.networking.Failed = "it broke"
			}
			h.note("networking %+v", h.networking)
		}
	}
}

// replace has a person delete a worker, join another machine, or do both under the same name: at the version that kubeadm would join it
// at, or at the one that the machine before had.
func (h *history) replace(n *snapshot.Node) {
	if n.ControlPlane {
		return
	}
	join := *n
	at := h.lowest()
	if rapid.Bool().Draw(h.t, "old image") {
		at = n.KubeletVersion
	}
	join.KubeletVersion, join.Cordoned, join.CordonedBy, join.Ready = at, false, "", true
	h.joined++
	join.UID = fmt.Sprintf("%s-%d", join.UID, h.joined)
	switch rapid.IntRange(0, 2).Draw(h.t, "replacement") {
	case 0:
		h.note("%s was recreated at %s", n.Name, at)
		*n = join
	case 1:
		h.note("%s was deleted", n.Name)
		h.Nodes = slices.DeleteFunc(h.Nodes, func(o snapshot.Node) bool { return o.Name == join.Name })
	default:
		join.Name = fmt.Sprintf("w-%d", 100+h.joined)
		h.note("%s joined at %s", join.Name, at)
		h.Nodes = append(h.Nodes, join)
	}
}

// lowest is the oldest version that a joining machine finds.
func (h *history) lowest() string {
	lowest := h.Kubeadm.KubernetesVersion
	for i := range h.Nodes {
		if v := version.ControlPlane(&h.Nodes[i]); v != "" && version.Compare(v, lowest) < 0 {
			lowest = v
		}
	}
	return lowest
}

// ask appends requests for whatever is not done, as a patient operator of a Manual upgrade would.
func (h *history) ask() {
	if h.upgrade.Spec.Mode != v1alpha1.ModeManual {
		return
	}
	hop := h.upgrade.Status.Hop
	add := func(r v1alpha1.StepRequest) {
		if !slices.Contains(h.upgrade.Spec.Requests, r) {
			h.upgrade.Spec.Requests = append(h.upgrade.Spec.Requests, r)
		}
	}
	for i := range h.Nodes {
		step := v1alpha1.RequestKubelet
		if h.Nodes[i].ControlPlane {
			step = v1alpha1.RequestControlPlane
		}
		add(v1alpha1.StepRequest{Step: step, Node: h.Nodes[i].Name, Version: hop})
	}
	add(v1alpha1.StepRequest{Step: v1alpha1.RequestNetworking, Version: hop})
}

// approve lets every group begin.
func (h *history) approve() {
	for _, g := range h.Plans[0].Spec.Groups {
		if !slices.Contains(h.upgrade.Spec.ApprovedGroups, g.Name) {
			h.upgrade.Spec.ApprovedGroups = append(h.upgrade.Spec.ApprovedGroups, g.Name)
		}
	}
}

// inTurn checks that a worker is begun only when the groups before its own are done, and its own is approved.
func (h *history) inTurn(a rollout.Action, seen *snapshot.Cluster) {
	groups := h.Plans[0].Spec.Groups
	of := func(name string) int {
		at := slices.IndexFunc(groups, func(g v1alpha1.NodeGroup) bool { return slices.Contains(g.Nodes, name) })
		if at < 0 {
			return len(groups)
		}
		return at
	}
	own := of(a.Node)
	if own < len(groups) && groups[own].Approval && !slices.Contains(h.upgrade.Spec.ApprovedGroups, groups[own].Name) {
		h.broken("%s was begun although its group is not approved", a.Node)
	}
	first := own
	for first > 0 && first < len(groups) && groups[first].BesidePrevious {
		first--
	}
	for i := range seen.Nodes {
		n := &seen.Nodes[i]
		if n.ControlPlane || of(n.Name) >= first || version.Runs(n, a.Version) {
			continue
		}
		if version.MinorsApart(n.KubeletVersion, a.Version) > 0 || n.KubeletVersion != a.Version {
			settled := slices.ContainsFunc(h.NodeUpgrades, func(nu *v1alpha1.NodeUpgrade) bool {
				return nu.Spec.Machine.Name == n.Name && nu.Status.Phase.Ended()
			})
			due := slices.ContainsFunc(h.NodeUpgrades, func(nu *v1alpha1.NodeUpgrade) bool {
				return nu.Spec.Machine.Name == n.Name && nu.Spec.KubernetesVersion == a.Version
			})
			if !settled && due {
				h.broken("%s was begun before %s of an earlier group", a.Node, n.Name)
			}
		}
	}
}

func (h *history) someNode() *snapshot.Node {
	return &h.Nodes[rapid.IntRange(0, len(h.Nodes)-1).Draw(h.t, "node")]
}

// watch checks an action against the observation that it was decided on; the claims in that are always fresh.
func (h *history) watch(a rollout.Action, seen *snapshot.Cluster) {
	h.note("  %s %s %s first=%t", a.Kind, a.Name, a.Version, a.First)
	switch a.Kind {
	case rollout.Start, rollout.Retry:
	case rollout.Stage, rollout.RunNetworking:
		h.quiet(a)
		if h.Plans[0].Spec.Networking != v1alpha1.NetworkingFirst && a.Kind == rollout.RunNetworking &&
			!slices.ContainsFunc(h.Nodes, func(n snapshot.Node) bool { return version.Compare(version.ControlPlane(&n), a.Version) >= 0 }) {
			h.broken("networking of %s before any control plane runs it", a.Version)
		}
		return
	default:
		return
	}
	nu := h.claim(a.Name)
	if nu != nil && !h.owns(nu) {
		h.broken("%s of %s for %s, which is not the upgrade under way", a.Kind, a.Name, nu.Labels[v1alpha1.LabelUpgrade])
	}
	n := seen.Node(a.Node)
	if nu == nil || n == nil {
		h.broken("%s of what is not there: %s", a.Kind, a.Name)
	}
	h.quiet(a)
	if !n.Ready {
		h.broken("%s was begun although it was not seen Ready", a.Node)
	}
	if n.ControlPlane {
		h.watchMaster(a, seen)
		return
	}
	h.inTurn(a, seen)
	// Anybody's claims are always fresh, so this holds however old the rest of the observation is.
	flying, out := 0, 0
	for i := range seen.Nodes {
		other := &seen.Nodes[i]
		if other.ControlPlane || other.Name == a.Node {
			continue
		}
		busy := slices.ContainsFunc(h.NodeUpgrades, func(c *v1alpha1.NodeUpgrade) bool { return c.Spec.Machine.Name == other.Name && flies(c) })
		if busy {
			flying++
		}
		if busy || !other.InService() {
			out++
		}
	}
	returning := a.Kind == rollout.Retry && n.Ready
	if flying+1 > h.most && !returning {
		h.broken("%s was begun while %d others are in flight, at most %d may be", a.Node, flying, h.most)
	}
	if out+1 > h.most && !returning {
		h.broken("%s was begun while %d others are out of service, at most %d may be", a.Node, out, h.most)
	}
}

// owns says that a claim is of the upgrade under way.
func (h *history) owns(nu *v1alpha1.NodeUpgrade) bool {
	return nu.Labels[v1alpha1.LabelUpgrade] == h.upgrade.Name
}

// quiet checks that nothing is begun by the upgrade while it is paused, aborted or failed. Its spec is never stale: it is the
// object that the decision is about.
func (h *history) quiet(a rollout.Action) {
	if h.upgrade.Spec.Paused || h.upgrade.Spec.Abort {
		h.broken("%s %s although the upgrade is paused or aborted", a.Kind, a.Node)
	}
	for i := range h.NodeUpgrades {
		nu := h.NodeUpgrades[i]
		if n := h.Node(nu.Spec.Machine.Name); n == nil || n.UID != nu.Status.NodeUID {
			continue
		}
		if h.owns(nu) && nu.Status.Phase == v1alpha1.NodeFailed && nu.Spec.Retry <= nu.Status.Retried &&
			nu.Annotations[v1alpha1.AnnotationResume] == fmt.Sprint(h.upgrade.Spec.Resume) {
			h.broken("%s %s although %s failed", a.Kind, a.Node, nu.Name)
		}
	}
}

func (h *history) watchMaster(a rollout.Action, seen *snapshot.Cluster) {
	for i := range h.ControlPlaneUpgrades {
		u := &h.ControlPlaneUpgrades[i]
		if u.Labels[v1alpha1.LabelUpgrade] == h.upgrade.Name && u.Spec.KubernetesVersion == a.Version && u.Spec.Paused {
			h.broken("%s was begun although its ControlPlaneUpgrade is paused", a.Node)
		}
	}
	for i := range h.NodeUpgrades {
		nu := h.NodeUpgrades[i]
		if a.First && h.owns(nu) && nu.Name != a.Name && nu.Spec.NodeType == v1alpha1.NodeTypeControlPlane && nu.Spec.KubernetesVersion == a.Version && nu.Status.Completed {
			h.broken("%s is first, although %s is done", a.Node, nu.Name)
		}
	}
	voters, healthy := seen.Etcd.Voters()
	if voters < 3 {
		return
	}
	if m := seen.Etcd.MemberOn(a.Node); m.Healthy {
		healthy--
	}
	if healthy < snapshot.Quorum(voters) {
		h.broken("%s was begun although etcd loses its quorum by it", a.Node)
	}
	if excluded := len(h.upgrade.Spec.ExcludedGates) > 0; !excluded && voters >= 5 && a.Kind == rollout.Start && healthy-1 < snapshot.Quorum(voters) {
		h.broken("%s was begun although one more failure would cost etcd its quorum", a.Node)
	}
}

func flies(nu *v1alpha1.NodeUpgrade) bool {
	over := nu.Status.Phase.Ended() && (nu.Status.Phase == v1alpha1.NodeCompleted || nu.Spec.Retry <= nu.Status.Retried)
	return !over && !nu.Spec.Hold
}

// invariants hold at every instant.
func (h *history) invariants() {
	flying, fetching := 0, 0
	for _, nu := range h.NodeUpgrades {
		switch {
		case nu.Spec.NodeType != v1alpha1.NodeTypeControlPlane:
		case flies(nu):
			flying++
		case nu.Spec.Hold && !nu.Status.Phase.Ended() && nu.Status.Phase != v1alpha1.NodeStaged:
			fetching++
		}
	}
	if flying+fetching > 1 {
		h.broken("%d control planes are in flight, and %d are being staged", flying, fetching)
	}
	if bad := version.Skew(h.Cluster); len(bad) > 0 {
		h.broken("skew: %v", bad)
	}
	s := h.upgrade.Status
	if s.State == v1alpha1.StateUpgradeComplete {
		for i := range h.Nodes {
			if !version.Runs(&h.Nodes[i], h.upgrade.Spec.ToVersion) {
				h.broken("complete, but %s is at %s", h.Nodes[i].Name, version.OfNode(&h.Nodes[i]))
			}
		}
	}
}

// heal ends all faults, as an operator would.
func (h *history) heal() {
	h.note("everything heals")
	for i := range h.Nodes {
		n := &h.Nodes[i]
		n.Ready = true
		if n.CordonedBy == "" {
			n.Cordoned = false
		}
	}
	h.upgrade.Spec.Paused, h.upgrade.Spec.Abort = false, false
	for i := range h.Etcd.Members {
		m := &h.Etcd.Members[i]
		n := h.Node(m.Node)
		midway := slices.ContainsFunc(h.NodeUpgrades, func(nu *v1alpha1.NodeUpgrade) bool {
			return nu.Spec.Machine.Name == m.Node && nu.Status.Step == v1alpha1.StepKubeadm && h.owns(nu)
		})
		m.Healthy = m.Healthy || !midway // another attempt repairs it
		n.Components.Etcd.Ready, n.Components.APIServer.Ready = m.Healthy, m.Healthy
	}
}

func (h *history) completes() {
	h.upgrade.Spec.Resume++
	for range 600 {
		h.ask()
		h.approve()
		h.round()
		h.invariants()
		if h.complete() {
			h.whole()
			return
		}
		if h.networking.Failed != "" && h.networking.Resume < h.upgrade.Spec.Resume {
			h.networking.Failed = ""
		}
	}
	for _, n := range h.last.Nodes {
		h.note("%+v", n)
	}
	h.broken("the upgrade did not complete: %s, waiting for %q; hops %v", h.upgrade.Status.State, h.upgrade.Status.Waiting, h.upgrade.Status.Hops)
}
