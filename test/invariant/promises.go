package invariant

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"refit.dev/refit/api/v1alpha1"
)

// The limits of the product on what is tried again.
const (
	mostAttempts      = 3
	mostInterruptions = 10
)

// withoutQuorum tells that so many etcd members are down at once that the rest is no majority. A single member has none to
// lose: it restarts.
func withoutQuorum(pods []corev1.Pod) []string {
	members := 0
	var down []string
	for _, p := range pods {
		if p.Labels["component"] != "etcd" {
			continue
		}
		members++
		if !podReady(p) {
			down = append(down, p.Name)
		}
	}
	if members < 3 || members-len(down) > members/2 {
		return nil
	}
	return []string{fmt.Sprintf("etcd has no quorum: of %d members %v are down", members, down)}
}

func podReady(p corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// uncordoned names nodes whose cordon, set by a person, is gone.
func uncordoned(nodes []corev1.Node, cordoned []string) []string {
	var out []string
	for _, n := range nodes {
		if slices.Contains(cordoned, n.Name) && !n.Spec.Unschedulable {
			out = append(out, "the cordon that a person set on "+n.Name+" is gone")
		}
	}
	return out
}

// retriedForEver names nodes that were tried again more often than the product promises.
func retriedForEver(upgrades []v1alpha1.NodeUpgrade) []string {
	var out []string
	for _, u := range upgrades {
		if u.Status.Attempts > mostAttempts || u.Status.Interruptions > mostInterruptions {
			out = append(out, fmt.Sprintf("%s: more than %d attempts or %d interruptions", u.Name, mostAttempts, mostInterruptions))
		}
	}
	return out
}
