package version

import (
	"errors"
	"fmt"
	"slices"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
)

// ForCluster is the versions that the cluster's control planes must stop at to come to a version, from whatever runs now. Where
// control planes run it already but some kubelet does not, that version is all there is. Where a worker's kubelet is too far behind
// to follow, the version that the control planes run now comes first.
func ForCluster(c *snapshot.Cluster, to string) ([]string, error) {
	known := byVersion(c.Versions)
	if _, err := Parse(to); err != nil {
		return nil, err
	}
	if known[to] == nil {
		return nil, &UnknownError{Version: to, Known: sorted(known)}
	}
	for i := range c.Nodes {
		if n := &c.Nodes[i]; n.ControlPlane && ControlPlane(n) == "" {
			return nil, &UnobservedError{Node: n.Name}
		}
	}
	lowest := Lowest(c)
	if lowest == "" {
		return nil, &UnobservedError{}
	}
	if Active(c) == to {
		return nil, &AlreadyError{Version: to}
	}
	if err := noneTooNew(c, to, known); err != nil {
		return nil, err
	}
	if Compare(lowest, to) >= 0 {
		return []string{to}, nil
	}
	hops, err := Path(lowest, to, c.Versions)
	if err != nil {
		return nil, err
	}
	if err := eachJoins(c, hops, known); err != nil {
		return nil, err
	}
	return forLaggards(c, lowest, hops, known)
}

// forLaggards puts the version that the control planes run in front, where a kubelet would be too old for the first hop: it has to
// be brought there before.
func forLaggards(c *snapshot.Cluster, lowest string, hops []string, known map[string]*v1alpha1.KubernetesVersion) ([]string, error) {
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if n.ControlPlane || Minor(n.KubeletVersion) == "" || MinorsApart(n.KubeletVersion, hops[0]) <= KubeletSkew {
			continue
		}
		if known[lowest] == nil {
			return nil, fmt.Errorf("the kubelet of %s runs %s and must come to %s before control planes come to %s: %w",
				n.Name, n.KubeletVersion, lowest, hops[0], &UnknownError{Version: lowest, Known: sorted(known)})
		}
		return slices.Concat([]string{lowest}, hops), nil
	}
	return hops, nil
}

// MayCome checks whether a node may be brought to a version in one go, from whatever runs on it. A node that is between the two,
// or runs the version already, may.
func MayCome(c *snapshot.Cluster, n *snapshot.Node, to string) error {
	known := byVersion(c.Versions)
	if known[to] == nil {
		return &UnknownError{Version: to, Known: sorted(known)}
	}
	for _, v := range all(n) {
		if Compare(v, to) <= 0 {
			continue
		}
		if err := downgrade(v, to, known); err != nil {
			var d *DowngradeError
			if errors.As(err, &d) {
				d.Node = n.Name
			}
			return err
		}
	}
	if v := ControlPlane(n); n.ControlPlane && Compare(v, to) < 0 && !step(v, known[to]) {
		return &NoPathError{From: v, To: to, Missing: missing(v, to, known), Allowed: known[to].Spec.UpgradeFrom}
	}
	return nil
}

// noneTooNew checks that whatever runs a newer version may go back.
func noneTooNew(c *snapshot.Cluster, to string, known map[string]*v1alpha1.KubernetesVersion) error {
	for i := range c.Nodes {
		n := &c.Nodes[i]
		for _, v := range all(n) {
			if Compare(v, to) <= 0 {
				continue
			}
			if err := downgrade(v, to, known); err != nil {
				var d *DowngradeError
				if errors.As(err, &d) && Active(c) == "" {
					d.Node = n.Name
				}
				return err
			}
		}
	}
	return nil
}

// eachJoins checks that every control plane, not just the lowest, may join the way at the first hop above it.
func eachJoins(c *snapshot.Cluster, hops []string, known map[string]*v1alpha1.KubernetesVersion) error {
	for i := range c.Nodes {
		v := ControlPlane(&c.Nodes[i])
		if v == "" || slices.Contains(hops, v) {
			continue
		}
		above := slices.IndexFunc(hops, func(h string) bool { return Compare(h, v) > 0 })
		if above >= 0 && !step(v, known[hops[above]]) {
			return &NoPathError{From: v, To: hops[above], Allowed: known[hops[above]].Spec.UpgradeFrom}
		}
	}
	return nil
}
