package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
)

const (
	verifyWithin = 4 * time.Minute
	verifyEvery  = time.Second
)

// Verify waits until the cluster, too, sees the node as it is to be. It changes nothing.
type Verify struct {
	*task.Task
	Client kubernetes.Interface
}

// Name tells it from the half that looks at the host.
func (Verify) Name() string { return string(v1alpha1.StepVerify) + "/cluster" }

// Deadline bounds the wait.
func (v Verify) Deadline() time.Duration { return v.Spec.Deadline(v1alpha1.StepVerify) }

// Done looks once.
func (v Verify) Done(ctx context.Context) (bool, string, error) {
	missing, err := v.missing(ctx)
	if err != nil || missing != "" {
		return false, missing, err
	}
	return true, v.summary(), nil
}

// Run looks until it is so. Errors of the API server pass; that the node is gone does not.
func (v Verify) Run(ctx context.Context) (string, error) {
	var final error
	err := v.Wait(ctx, "the cluster to see the node at "+v.Spec.Version, verifyEvery, verifyWithin, func(ctx context.Context) string {
		missing, err := v.missing(ctx)
		if err != nil && spec.CodeOf(err) != spec.ExitFailed {
			final = err
			return ""
		}
		if err != nil {
			return err.Error()
		}
		return missing
	})
	if final != nil {
		err = final
	}
	return v.summary(), err
}

func (v Verify) summary() string {
	if v.Spec.ControlPlane() {
		return "the node is Ready at " + v.Spec.Version + ", and so are its static pods"
	}
	return "the node is Ready at " + v.Spec.Version
}

func (v Verify) missing(ctx context.Context) (string, error) {
	found, err := node{client: v.Client, host: v.Host, spec: v.Spec}.getOnce(ctx)
	if err != nil {
		return "", err
	}
	var missing []string
	if at := found.Status.NodeInfo.KubeletVersion; at != v.Spec.Version {
		missing = append(missing, "the node's status still says kubelet "+at)
	}
	for _, c := range found.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			missing = append(missing, "the node is not Ready: "+c.Message)
		}
	}
	if v.Spec.ControlPlane() && len(missing) == 0 {
		pods, err := v.staticPods(ctx)
		if err != nil {
			return "", err
		}
		missing = append(missing, pods...)
	}
	return strings.Join(missing, "; "), nil
}

func (v Verify) staticPods(ctx context.Context) ([]string, error) {
	var missing []string
	for _, component := range staticpod.Components {
		if component == staticpod.Etcd {
			if _, content, err := staticpod.Read(v.Task, task.DefaultManifests, component); err != nil || content == nil {
				continue // external, or in a folder of its own: the host's half has looked at it
			}
		}
		within, cancel := context.WithTimeout(ctx, requestDeadline)
		pod, err := v.Client.CoreV1().Pods(metav1.NamespaceSystem).Get(within, staticpod.PodName(v.Task, component), metav1.GetOptions{})
		cancel()
		if apierrors.IsNotFound(err) {
			missing = append(missing, component+" has no mirror pod yet")
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("get pod %s: %w", staticpod.PodName(v.Task, component), err)
		}
		if why := notReady(pod); why != "" {
			missing = append(missing, component+" "+why)
		} else if image := pod.Spec.Containers[0].Image; component != staticpod.Etcd && !strings.Contains(image, ":"+v.Spec.Version) {
			missing = append(missing, component+" still has image "+image)
		}
	}
	return missing, nil
}

func notReady(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status != corev1.ConditionTrue {
			return "is not Ready: " + c.Reason
		}
	}
	return ""
}
