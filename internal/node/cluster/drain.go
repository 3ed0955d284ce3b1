package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/task"
)

// Drain cordons the node and moves its pods away.
type Drain struct {
	*task.Task
	Client kubernetes.Interface
}

// Name is the step's.
func (Drain) Name() string { return string(v1alpha1.StepDrain) }

// Deadline bounds the step. The drain itself is bounded by its policy.
func (d Drain) Deadline() time.Duration { return d.Spec.Deadline(v1alpha1.StepDrain) }

func (d Drain) node() node { return node{client: d.Client, host: d.Host, spec: d.Spec} }

// Done says whether the node is cordoned and no pod is left that has to leave, or whether it is not to be drained at all.
func (d Drain) Done(ctx context.Context) (bool, string, error) {
	if !d.Spec.DrainNode {
		reason := d.Spec.DrainReason
		if reason == "" {
			reason = "the drain policy or the cluster's size does not ask for it"
		}
		return true, "not drained: " + reason, nil
	}
	found, err := d.node().get(ctx)
	if err != nil || !found.Spec.Unschedulable {
		return false, "not cordoned yet", err
	}
	if by, refits := found.Annotations[v1alpha1.AnnotationCordonedBy]; refits && by != d.Spec.UpgradeUID {
		return false, "still cordoned by upgrade " + by, nil
	}
	pods, err := d.list(ctx)
	if err != nil {
		return false, "", err
	}
	others, err := d.elsewhere(ctx, pods)
	if err != nil {
		return false, "", err
	}
	leave, stay := others.split(pods)
	// Run moves those that tolerate the cordon once; after that they may be back, and are left.
	leave = slices.DeleteFunc(leave, toleratesCordon)
	if len(leave) > 0 {
		return false, fmt.Sprintf("%d pods are to leave", len(leave)), nil
	}
	return true, "cordoned, and no pod is left that has to leave" + named("; can run nowhere else: ", stay), nil
}

// Run drains.
func (d Drain) Run(ctx context.Context) (string, error) {
	cordon, err := d.node().cordon(ctx)
	if err != nil {
		return "", err
	}
	d.Log.Say("node %s: %s", d.Spec.NodeName, cordon)
	timeout := time.Duration(d.Spec.Drain.Timeout)
	if timeout <= 0 {
		timeout = spec.DefaultDrainTimeout
	}
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	pods, err := d.list(within)
	if err != nil {
		return "", err
	}
	others, err := d.elsewhere(within, pods)
	if err != nil {
		return "", err
	}
	e := newEviction(d, others)
	err = e.run(within)
	if err == nil {
		return fmt.Sprintf("%s, moved %d pods away%s", cordon, e.gone(), named("; can run nowhere else: ", e.staying())+
			named("; tolerate the cordon and came back: ", e.returned())), nil
	}
	if ctx.Err() != nil || !errors.Is(err, errPodsLeft) {
		return "", err
	}
	if _, err := d.list(ctx); err != nil { // while the API server is away nobody knows which pods are left
		return "", err
	}
	if d.Spec.Drain.OnTimeout == v1alpha1.DrainForce {
		return e.force(ctx)
	}
	left := e.describe()
	message, uncordonErr := d.node().uncordon(ctx)
	if uncordonErr != nil {
		message = fmt.Sprintf("could not be uncordoned (%v): `kubectl uncordon %s`", uncordonErr, d.Spec.NodeName)
	}
	return "", spec.DrainTimedOutf("not drained within %s: %s. The node: %s", timeout, left, message)
}

// list asks once for the pods that have to leave.
func (d Drain) list(ctx context.Context) ([]*corev1.Pod, error) {
	var left []*corev1.Pod
	err := d.Retry(ctx, "listing the node's pods", patience, firstPause, again, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, requestDeadline)
		defer cancel()
		list, err := d.Client.CoreV1().Pods("").List(ctx, onNode(d.Spec.NodeName))
		if err != nil {
			return fmt.Errorf("list the pods on %s: %w", d.Spec.NodeName, err)
		}
		left = nil
		for i := range list.Items {
			if leaves(&list.Items[i]) {
				left = append(left, &list.Items[i])
			}
		}
		return nil
	})
	return left, err
}

// errPodsLeft says that the time was over before every pod had left.
var errPodsLeft = errors.New("pods are left")

// attempt is what is known of moving one pod away.
type attempt struct {
	name string
	// next is when the eviction is asked for again.
	next time.Time
	// why is what the last eviction was refused with; empty once it was granted.
	why     string
	granted bool
}

// attempts are by UID: a pod of the same name that came back is another.
type attempts map[types.UID]*attempt

func (a attempts) of(pod *corev1.Pod) *attempt {
	if a[pod.UID] == nil {
		a[pod.UID] = &attempt{name: name(pod)}
	}
	return a[pod.UID]
}

// mostNamed is how many pods a message names.
const mostNamed = 8

// describe tells, for an operator, which pods are left and what holds each.
func describe(left []*corev1.Pod, known attempts, now time.Time) string {
	var texts []string
	for _, pod := range left {
		why := known.of(pod).why
		switch {
		case pod.DeletionTimestamp != nil && len(pod.Finalizers) > 0:
			why = "held by finalizer " + strings.Join(pod.Finalizers, ", ")
		case pod.DeletionTimestamp != nil && pod.DeletionTimestamp.After(now):
			why = fmt.Sprintf("ending, within its grace period, until %s", pod.DeletionTimestamp.UTC().Format(time.TimeOnly))
		case pod.DeletionTimestamp != nil:
			why = "ending, past its grace period"
		case why == "":
			why = "eviction granted, not ended yet"
		}
		texts = append(texts, name(pod)+" ("+why+")")
	}
	sort.Strings(texts)
	if len(texts) > mostNamed {
		texts = append(texts[:mostNamed], fmt.Sprintf("and %d more", len(texts)-mostNamed))
	}
	return fmt.Sprintf("%d pods left: %s", len(left), strings.Join(texts, "; "))
}
