package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

// watch feeds the ledger until the context ends. It returns once every node has been seen.
func (c *cluster) watch(ctx context.Context, l *ledger) error {
	seen, err := cache.New(c.config, cache.Options{Scheme: c.scheme, DefaultTransform: slim})
	if err != nil {
		return fmt.Errorf("watch the cluster: %w", err)
	}
	for _, o := range []client.Object{&corev1.Node{}, &v1alpha1.NodeUpgrade{}} {
		informer, err := seen.GetInformer(ctx, o, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("watch the cluster: %w", err)
		}
		take := func(o any, gone bool) {
			if e, ok := eventOf(o, gone); ok {
				l.add(e)
			}
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { take(o, false) },
			UpdateFunc: func(_, o any) { take(o, false) },
			DeleteFunc: func(o any) { take(o, true) },
		}); err != nil {
			return fmt.Errorf("watch the cluster: %w", err)
		}
	}
	go func() { _ = seen.Start(ctx) }() // it ends with the context
	if !seen.WaitForCacheSync(ctx) {
		return fmt.Errorf("watch the cluster: %w", context.Cause(ctx))
	}
	return nil
}

// slim drops what is large and not looked at: this program shares the machine with what it measures.
func slim(o any) (any, error) {
	switch o := o.(type) {
	case *corev1.Node:
		o.ManagedFields, o.Annotations, o.Status.Images = nil, nil, nil
	case *v1alpha1.NodeUpgrade:
		o.ManagedFields, o.Status.Steps, o.Status.Conditions = nil, nil, nil
	}
	return o, nil
}

func eventOf(o any, gone bool) (event, bool) {
	e := event{at: time.Now(), gone: gone}
	switch o := o.(type) {
	case *corev1.Node:
		_, controlPlane := o.Labels[labelControlPlane]
		e.node, e.worker, e.out = o.Name, !controlPlane, o.Spec.Unschedulable || !ready(o)
		e.version = versionOf(o)
	case *v1alpha1.NodeUpgrade:
		e.claim, e.node, e.worker = true, o.Spec.Machine.Name, o.Spec.NodeType == v1alpha1.NodeTypeWorker
		e.held, e.phase, e.again = o.Spec.Hold, o.Status.Phase, o.Status.Phase != v1alpha1.NodeCompleted && o.Spec.Retry > o.Status.Retried
		e.version = versionOf(o)
	default:
		return e, false
	}
	return e, true
}

func versionOf(o client.Object) uint64 {
	n, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func ready(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// registered counts the nodes that are Ready.
func (c *cluster) registered(ctx context.Context) (int, error) {
	var nodes corev1.NodeList
	if err := c.client.List(ctx, &nodes); err != nil {
		return 0, err
	}
	n := 0
	for i := range nodes.Items {
		if ready(&nodes.Items[i]) && strings.HasPrefix(nodes.Items[i].Status.NodeInfo.KubeletVersion, "v") {
			n++
		}
	}
	return n, nil
}
