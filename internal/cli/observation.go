package cli

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/snapshot"
)

// What is said of a gate that only the manager, which has etcd's certificate and is in the cluster's network, can judge.
const (
	notFromHere     = "not visible from here; the manager looks before it starts anything"
	etcdNotFromHere = "all etcd pods are Ready (%d); the members themselves are not visible from here, the manager looks before it starts anything"
)

// observation sees the cluster as the manager does, but for what only the manager's certificates and network reach: that
// is unobserved here.
func (a *app) observation(ctx context.Context, c client.Client) (*snapshot.Cluster, error) {
	config, err := a.restConfig()
	if err != nil {
		return nil, err
	}
	o := &observe.Observer{Reader: c, Live: c, Config: config, Clock: a.clock}
	seen, err := o.Cluster(ctx, observe.Fresh)
	if err != nil {
		return nil, fmt.Errorf("look at the cluster: %w", err)
	}
	return seen, nil
}

// markUnseen rewords the verdicts on what this program cannot see, and names their gates. They close nothing here: the
// manager, which sees more, asks the same gates. An etcd outside the cluster is not visible to the manager either.
func markUnseen(seen *snapshot.Cluster, verdicts []gate.Verdict) []string {
	var names []string
	members := etcdPods(seen)
	for i := range verdicts {
		v := &verdicts[i]
		if v.Level != gate.Unknown || v.Gate == gate.Etcd && members.all == 0 {
			continue
		}
		names = append(names, v.Gate)
		v.Message = notFromHere
		if v.Gate == gate.Etcd && members.ready == members.all {
			v.Message = fmt.Sprintf(etcdNotFromHere, members.all)
		}
	}
	return names
}

type counts struct{ all, ready int }

// etcdPods counts the static pods of etcd.
func etcdPods(seen *snapshot.Cluster) counts {
	var found counts
	for _, n := range seen.Nodes {
		if n.Components == nil || !n.Components.Etcd.Found {
			continue
		}
		found.all++
		if n.Components.Etcd.Ready {
			found.ready++
		}
	}
	return found
}

// held are the verdicts that hold an upgrade up as far as can be seen from here.
func held(verdicts []gate.Verdict, unseen []string) []string {
	var out []string
	skip := map[string]bool{}
	for _, name := range unseen {
		skip[name] = true
	}
	for _, v := range gate.Closed(verdicts) {
		if !skip[v.Gate] {
			out = append(out, v.String())
		}
	}
	return out
}
