package gate

import (
	"fmt"
	"strings"

	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

const (
	// almostFull is the share of its quota at which etcd counts as full: an upgrade writes, and NOSPACE stops the cluster.
	almostFull = 0.95
	// safe35 is the first etcd 3.5 from which 3.6 does not bring removed members back.
	safe35 = "3.5.26"
)

// etcd wants every member healthy and voting, no alarm, room in the database, and a quorum that survives the loss of the member
// that is about to restart, and of one more where there are enough members for that.
func etcd(p Point, in Input) Verdict {
	if v, bad := unobserved(in.Cluster, snapshot.PartEtcd); bad {
		return v
	}
	e := &in.Cluster.Etcd
	if len(e.Members) == 0 {
		return Verdict{Level: Unknown, Message: "no etcd member was seen, so this counts as closed"}
	}
	var bad, objects []string
	for _, m := range e.Members {
		if why := unwell(m); why != "" && !(in.forgives(m.Node) && !m.Learner) {
			bad, objects = append(bad, why), append(objects, m.Name)
		}
	}
	for _, a := range e.Alarms {
		bad, objects = append(bad, alarm(e, a)), append(objects, a.MemberID)
	}
	bad = append(bad, tooOldFor36(in)...)
	if len(bad) > 0 {
		return blocked(objects, "%s", strings.Join(bad, "; "))
	}
	voters, healthy := e.Voters()
	if why := quorum(in, p); why != "" {
		return blocked(nil, "%s", why)
	}
	if p != AfterEnd && !e.External && voters == 2 {
		return warning(nil, "etcd has 2 members: it stops answering for 5 to 30 s while either restarts")
	}
	return ok("%d of %s healthy, no alarm", healthy, plural(voters, "etcd member"))
}

func unwell(m snapshot.Member) string {
	name := m.Name
	if name == "" {
		name = m.ID
	}
	switch {
	case !m.Healthy && m.Error != "":
		return fmt.Sprintf("etcd member %s is not healthy: %s", name, m.Error)
	case !m.Healthy:
		return fmt.Sprintf("etcd member %s is not healthy", name)
	case m.Learner:
		return fmt.Sprintf("etcd member %s is a learner and does not vote: promote it with `etcdctl member promote %s`, or remove it", name, m.ID)
	case m.QuotaBytes > 0 && float64(m.SizeBytes) > almostFull*float64(m.QuotaBytes):
		return fmt.Sprintf("the database of etcd member %s has %d of %d MiB: compact and defragment it, or raise --quota-backend-bytes",
			name, m.SizeBytes>>20, m.QuotaBytes>>20)
	}
	return ""
}

func alarm(e *snapshot.Etcd, a snapshot.Alarm) string {
	name := a.MemberID
	for _, m := range e.Members {
		if m.ID == a.MemberID && m.Name != "" {
			name = m.Name
		}
	}
	switch a.Type {
	case "NOSPACE":
		return fmt.Sprintf("etcd member %s raised NOSPACE: compact, defragment, then `etcdctl alarm disarm`", name)
	case "CORRUPT":
		return fmt.Sprintf("etcd member %s raised CORRUPT: remove and add it again before anything else", name)
	}
	return fmt.Sprintf("etcd member %s raised alarm %s", name, a.Type)
}

// tooOldFor36 finds members that 3.6 would bring removed members back from.
func tooOldFor36(in Input) []string {
	kv := in.Cluster.Version(in.Hop)
	if kv == nil || in.Cluster.Etcd.External || !atLeast(kv.Component("etcd"), "3.6.0") {
		return nil
	}
	var old []string
	for _, m := range in.Cluster.Etcd.Members {
		if m.Version != "" && !atLeast(m.Version, safe35) {
			old = append(old, fmt.Sprintf("etcd member %s runs %s, and %s brings etcd 3.6, which is only safe from %s on: upgrade to a patch release with that etcd first",
				m.Name, m.Version, in.Hop, safe35))
		}
	}
	return old
}

// atLeast compares versions of etcd, which come as 3.6.6, v3.6.6 or, of images, 3.6.6-0. What is no version is not.
func atLeast(v, least string) bool {
	v, _, _ = strings.Cut(v, "-")
	if _, err := version.Parse(v); err != nil {
		return false
	}
	return version.Compare(v, least) >= 0
}

// quorum says how etcd would lose its quorum, or has; empty where it keeps it.
func quorum(in Input, p Point) string {
	e := &in.Cluster.Etcd
	voters, healthy := e.Voters()
	need := snapshot.Quorum(voters)
	member := e.MemberOn(in.Node)
	down := member != nil && !member.Healthy && in.forgives(in.Node) // the step is there to bring it back
	if down && (healthy >= need || healthy == voters-1) {
		return ""
	}
	if healthy < need {
		return fmt.Sprintf("etcd has lost its quorum: %d of %d members healthy, %d needed. Restore members from a snapshot (see docs/when-it-stops.md#etcd)", healthy, voters, need)
	}
	if p != BeforeControlPlane || e.External || voters < 3 || member == nil {
		return ""
	}
	spare := 0
	if voters >= 5 {
		spare = 1
	}
	if left := healthy - 1 - spare; left < need {
		return fmt.Sprintf("etcd would not keep its quorum while %s restarts: %d of %d members would be left, %d needed", in.Node, left, voters, need)
	}
	return ""
}

// KeepsQuorum says whether etcd goes on answering while the node restarts its member, as far as its size allows: of one or two
// members the others must be well. This is no gate that could be excluded; the planner always asks it.
func KeepsQuorum(e *snapshot.Etcd, node string) bool {
	if e.External {
		return true
	}
	voters, healthy := e.Voters()
	if m := e.MemberOn(node); m == nil || m.Healthy {
		healthy-- // a member that is not known to be down counts as one that is about to be
	}
	if voters < 3 {
		return voters > 0 && healthy >= voters-1
	}
	return healthy >= snapshot.Quorum(voters)
}
