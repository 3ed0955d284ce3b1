package install

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

// Manager is the name of the manager's Deployment.
const Manager = "refit-manager"

// Ready waits until every replica of the manager is available. said is told whenever something changes, and the error
// says what was in the way last.
func Ready(ctx context.Context, c client.Client, said func(string)) error {
	last := ""
	err := wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		var d appsv1.Deployment
		if err := c.Get(ctx, client.ObjectKey{Namespace: v1alpha1.Namespace, Name: Manager}, &d); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		ready, text := progress(&d)
		if !ready {
			text += reasons(ctx, c, &d)
		}
		if text != last && ctx.Err() == nil {
			last = text
			said(text)
		}
		return ready, nil
	})
	if err != nil {
		return fmt.Errorf("the manager is not ready in time (%s): see `kubectl -n %s describe pods`: %w", orNothing(last), v1alpha1.Namespace, err)
	}
	return nil
}

func orNothing(text string) string {
	if text == "" {
		return "its Deployment was not seen"
	}
	return text
}

// progress says whether a Deployment is all new and all available.
func progress(d *appsv1.Deployment) (bool, string) {
	wanted := int32(1)
	if d.Spec.Replicas != nil {
		wanted = *d.Spec.Replicas
	}
	s := d.Status
	current := s.ObservedGeneration >= d.Generation
	done := current && s.UpdatedReplicas == wanted && s.AvailableReplicas == wanted && s.Replicas == wanted
	return done, fmt.Sprintf("%d of %d managers ready", min(s.AvailableReplicas, s.UpdatedReplicas), wanted)
}

// reasons says what keeps the manager's pods from running, empty where nothing is known to.
func reasons(ctx context.Context, c client.Client, d *appsv1.Deployment) string {
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return ""
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(d.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return ""
	}
	var found []string
	seen := map[string]bool{}
	for _, pod := range pods.Items {
		reason := podReason(&pod)
		if reason != "" && !seen[reason] {
			seen[reason] = true
			found = append(found, reason)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return ": " + strings.Join(found, "; ")
}

func podReason(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	for _, s := range pod.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			return strings.TrimSuffix(w.Reason+": "+w.Message, ": ")
		}
	}
	return ""
}
