package nodeupgrade

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/snapshot"
)

const (
	labelComponent  = "component"
	systemNamespace = "kube-system"
)

// observe gathers everything that Decide looks at. What cannot be read is an error, never an absence.
func (r *Reconciler) observe(ctx context.Context, nu *v1alpha1.NodeUpgrade) (Observation, error) {
	o := Observation{Now: r.Clock.Now(), Upgrade: nu, Pods: map[Role]*corev1.Pod{}}
	for _, read := range []func(context.Context, *Observation) error{r.observeNodes, r.observeVersion, r.observePods, r.observeEtcd} {
		if err := read(ctx, &o); err != nil {
			return o, err
		}
	}
	return o, nil
}

func (r *Reconciler) observeNodes(ctx context.Context, o *Observation) error {
	name := o.Upgrade.Spec.Machine.Name
	var node corev1.Node
	err := r.Client.Get(ctx, client.ObjectKey{Name: name}, &node)
	if apierrors.IsNotFound(err) { // the cache may be behind: a node is gone only where the API server itself says so
		err = r.Live.Get(ctx, client.ObjectKey{Name: name}, &node)
	}
	switch {
	case err == nil:
		o.Node = &node
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("get node %s: %w", name, err)
	}
	if o.Upgrade.Spec.NodeType == v1alpha1.NodeTypeWorker {
		return r.observeOthers(ctx, o)
	}
	return r.observeAll(ctx, o, 0)
}

// few is how many nodes are looked at first for one that takes pods: mostly there is one among them.
const few = 10

// observeOthers looks for another node that takes pods. Thousands are not looked at for each step of each of them: mostly the one that did
// the last time still does. Those who have to look further do so one after another, as each look at all of them takes megabytes.
func (r *Reconciler) observeOthers(ctx context.Context, o *Observation) error {
	if known, err := r.observeTaker(ctx, o); known || err != nil {
		return err
	}
	r.looking.Lock()
	defer r.looking.Unlock()
	if known, err := r.observeTaker(ctx, o); known || err != nil { // somebody else has found one meanwhile
		return err
	}
	for _, most := range []int64{few, 0} {
		if err := r.observeAll(ctx, o, most); err != nil {
			return err
		}
		taker := slices.IndexFunc(o.Cluster.Nodes, func(n snapshot.Node) bool { return n.Name != o.Upgrade.Spec.Machine.Name && n.TakesPods() })
		if taker >= 0 {
			r.taker.Store(o.Cluster.Nodes[taker].Name)
			return nil
		}
	}
	return nil
}

// observeTaker observes the node to be upgraded and the one that took pods the last time, where that is another and still does.
func (r *Reconciler) observeTaker(ctx context.Context, o *Observation) (known bool, err error) {
	name, ok := r.taker.Load().(string)
	if !ok || name == o.Upgrade.Spec.Machine.Name {
		return false, nil
	}
	var n corev1.Node
	if err := r.Client.Get(ctx, client.ObjectKey{Name: name}, &n); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	taker := observe.Node(&n)
	if !taker.TakesPods() {
		return false, nil
	}
	o.Cluster.Nodes = []snapshot.Node{taker}
	if o.Node != nil {
		o.Cluster.Nodes = append(o.Cluster.Nodes, observe.Node(o.Node))
	}
	return true, nil
}

// observeAll looks at so many nodes, at all where that is 0, and at the one to be upgraded as it was read.
func (r *Reconciler) observeAll(ctx context.Context, o *Observation, most int64) error {
	var nodes corev1.NodeList
	if err := r.Client.List(ctx, &nodes, client.UnsafeDisableDeepCopy, client.Limit(most)); err != nil { // they are only looked at
		return fmt.Errorf("list nodes: %w", err)
	}
	o.Cluster.Nodes = o.Cluster.Nodes[:0]
	if o.Node != nil {
		o.Cluster.Nodes = append(o.Cluster.Nodes, observe.Node(o.Node))
	}
	for i := range nodes.Items {
		if nodes.Items[i].Name != o.Upgrade.Spec.Machine.Name {
			o.Cluster.Nodes = append(o.Cluster.Nodes, observe.Node(&nodes.Items[i]))
		}
	}
	return nil
}

func (r *Reconciler) observeVersion(ctx context.Context, o *Observation) error {
	var v v1alpha1.KubernetesVersion
	switch err := r.Client.Get(ctx, client.ObjectKey{Name: o.Upgrade.Spec.KubernetesVersion}, &v); {
	case err == nil:
		o.Version, o.Cluster.Versions = &v, []v1alpha1.KubernetesVersion{v}
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("get KubernetesVersion %s: %w", o.Upgrade.Spec.KubernetesVersion, err)
	}
	return nil
}

func (r *Reconciler) observePods(ctx context.Context, o *Observation) error {
	for _, role := range roles {
		key := client.ObjectKey{Namespace: o.Upgrade.Namespace, Name: PodName(o.Upgrade.Spec.Machine.Name, role)}
		var pod corev1.Pod
		err := r.Client.Get(ctx, key, &pod)
		if apierrors.IsNotFound(err) && seenBefore(o.Upgrade, key.Name) {
			err = r.Live.Get(ctx, key, &pod) // the cache may be behind
		}
		switch {
		case err == nil:
			o.Pods[role] = &pod
		case !apierrors.IsNotFound(err):
			return fmt.Errorf("get Pod %s: %w", key.Name, err)
		}
	}
	return nil
}

// seenBefore says that the status knows of a Pod of that name whose end is not counted yet.
func seenBefore(nu *v1alpha1.NodeUpgrade, pod string) bool {
	s := nu.Status
	return s.Pod == pod && s.PodUID != "" && s.PodUID != s.CountedPodUID
}

// observeEtcd asks whether etcd runs as static Pods at all: the mirror Pod of this very node may be missing for a moment.
func (r *Reconciler) observeEtcd(ctx context.Context, o *Observation) error {
	if o.Upgrade.Spec.NodeType != v1alpha1.NodeTypeControlPlane {
		return nil
	}
	var pods corev1.PodList
	err := r.Client.List(ctx, &pods, client.InNamespace(systemNamespace), client.MatchingLabels{labelComponent: "etcd"})
	if err != nil {
		return fmt.Errorf("list etcd's Pods: %w", err)
	}
	o.EtcdMembers = len(pods.Items) > 0
	return nil
}
