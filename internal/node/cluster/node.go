// Package cluster is what a step asks of the cluster with the Pod's own service account: cordon and drain, verify, uncordon.
package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/spec"
)

const (
	// requestDeadline bounds one request.
	requestDeadline = 15 * time.Second
	// patience and firstPause bound how often a request is made again while the API server is away: for half a minute. After that the whole
	// step is held.
	patience   = 7
	firstPause = 500 * time.Millisecond
)

// InCluster is a client with the Pod's service account.
func InCluster() (kubernetes.Interface, error) {
	config, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("use the Pod's service account: %w", err)
	}
	config.Timeout = 0 // watches last; each other request has a deadline of its own
	config.UserAgent = "refit-node"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("use the Pod's service account: %w", err)
	}
	return client, nil
}

// Answers asks for a sign of life of the API server. The error says why there is none.
func Answers(client kubernetes.Interface) func(context.Context) error {
	return func(ctx context.Context) error {
		err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
			return nil // it answers, though not to everybody
		}
		return err
	}
}

// node asks and changes one Node.
type node struct {
	client kubernetes.Interface
	host   *host.Host
	spec   spec.Spec
}

// again says whether an error is one that passes: anything but a clear answer.
func again(err error) bool {
	return !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) && !apierrors.IsConflict(err) &&
		!apierrors.IsUnauthorized(err) && spec.CodeOf(err) == spec.ExitFailed
}

func (n node) get(ctx context.Context) (*corev1.Node, error) {
	var found *corev1.Node
	err := n.host.Retry(ctx, "asking for the node", patience, firstPause, again, func(ctx context.Context) error {
		var err error
		found, err = n.getOnce(ctx)
		return err
	})
	return found, err
}

func (n node) getOnce(ctx context.Context) (*corev1.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, requestDeadline)
	defer cancel()
	found, err := n.client.CoreV1().Nodes().Get(ctx, n.spec.NodeName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, spec.Refusef("there is no node %s any more", n.spec.NodeName)
	}
	if err != nil {
		return nil, fmt.Errorf("get node %s: %w", n.spec.NodeName, err)
	}
	if n.spec.NodeUID != "" && found.UID != types.UID(n.spec.NodeUID) {
		return nil, spec.Refusef("node %s was made anew since the upgrade began (UID %s, was %s): delete NodeUpgrade %s",
			n.spec.NodeName, found.UID, n.spec.NodeUID, n.spec.UpgradeName)
	}
	return found, nil
}

// ours says whether the node's cordon was set by this upgrade, and refits whether by any of Refit's.
func (n node) ours(found *corev1.Node) bool {
	return found.Spec.Unschedulable && found.Annotations[v1alpha1.AnnotationCordonedBy] == n.spec.UpgradeUID
}

// cordon keeps new pods away. A cordon that a person set stays theirs; one that an earlier upgrade of Refit left is taken over.
func (n node) cordon(ctx context.Context) (string, error) {
	return n.change(ctx, func(found *corev1.Node) (map[string]any, string) {
		by, refits := found.Annotations[v1alpha1.AnnotationCordonedBy]
		switch {
		case n.ours(found):
			return nil, "was cordoned by this upgrade"
		case found.Spec.Unschedulable && !refits:
			return nil, "was cordoned by a person, and stays so"
		case found.Spec.Unschedulable:
			return cordonPatch(n.spec.UpgradeUID, true), "took over the cordon of upgrade " + by
		default:
			return cordonPatch(n.spec.UpgradeUID, true), "cordoned"
		}
	})
}

// uncordon lifts the cordon that this upgrade set, and no other.
func (n node) uncordon(ctx context.Context) (string, error) {
	return n.change(ctx, func(found *corev1.Node) (map[string]any, string) {
		switch {
		case n.ours(found):
			return cordonPatch(nil, nil), "uncordoned"
		case found.Spec.Unschedulable:
			return nil, "stays cordoned: this upgrade did not do it"
		default:
			return nil, "is not cordoned"
		}
	})
}

func cordonPatch(by, unschedulable any) map[string]any {
	return map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{v1alpha1.AnnotationCordonedBy: by}},
		"spec":     map[string]any{"unschedulable": unschedulable},
	}
}

// maxConflicts is how often a change is worked out anew because somebody else changed the node meanwhile.
const maxConflicts = 10

// change patches the node as it was seen: a change that somebody else makes meanwhile is looked at first.
func (n node) change(ctx context.Context, decide func(*corev1.Node) (patch map[string]any, message string)) (string, error) {
	for range maxConflicts {
		found, err := n.get(ctx)
		if err != nil {
			return "", err
		}
		patch, message := decide(found)
		if patch == nil {
			return message, nil
		}
		patch["metadata"].(map[string]any)["resourceVersion"] = found.ResourceVersion
		body, err := json.Marshal(patch)
		if err != nil {
			return "", err
		}
		err = n.host.Retry(ctx, "changing the node", patience, firstPause, again, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, requestDeadline)
			defer cancel()
			_, err := n.client.CoreV1().Nodes().Patch(ctx, n.spec.NodeName, types.MergePatchType, body, metav1.PatchOptions{FieldManager: "refit-node"})
			return err
		})
		if err == nil {
			return message, nil
		}
		if !apierrors.IsConflict(err) {
			return "", fmt.Errorf("change node %s: %w", n.spec.NodeName, err)
		}
	}
	return "", fmt.Errorf("change node %s: it was changed by somebody else %d times in a row", n.spec.NodeName, maxConflicts)
}
