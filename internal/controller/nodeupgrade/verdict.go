package nodeupgrade

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"refit.dev/refit/internal/node/spec"
)

// outcome is what became of a Pod.
type outcome int

const (
	// outRunning: it is at work, or about to be.
	outRunning outcome = iota
	// outTerminating: it is being deleted.
	outTerminating
	outSucceeded
	// outFailed: a step failed; it may be tried again.
	outFailed
	outRefused
	outDrainTimedOut
	outRolledBack
	// outInterrupted: it was cut off; it may be started again.
	outInterrupted
	// outImageUnavailable: its image could not be pulled in time.
	outImageUnavailable
	// outNotStarted: none of its containers came to run in time.
	outNotStarted
	// outStuck: it runs past every deadline of its steps.
	outStuck
)

// verdict is what became of a Pod, and why.
type verdict struct {
	outcome outcome
	// step is the container that the verdict is about, empty where it is about the whole Pod.
	step    string
	message string
	// ended is when the Pod ended; its creation where nothing tells.
	ended time.Time
	// due is when a Pod that is running has to be looked at again, whatever happens. Zero where there is no such time.
	due time.Time
}

// judge says what became of a Pod. The deadline bounds its whole run.
func judge(pod *corev1.Pod, now time.Time, l Limits, deadline time.Duration) verdict {
	switch {
	case pod.DeletionTimestamp != nil:
		return verdict{outcome: outTerminating}
	case pod.Status.Phase == corev1.PodSucceeded:
		return verdict{outcome: outSucceeded, ended: endOf(pod)}
	case pod.Status.Phase == corev1.PodFailed:
		return judgeFailed(pod)
	}
	return judgeRunning(pod, now, l, deadline)
}

func judgeFailed(pod *corev1.Pod) verdict {
	v := verdict{outcome: outInterrupted, ended: endOf(pod), message: podMessage(pod)}
	for _, c := range containers(pod) {
		t := c.State.Terminated
		if t == nil || t.ExitCode == int32(spec.ExitDone) {
			continue
		}
		v.step, v.message = c.Name, stepMessage(c.Name, t)
		switch spec.ExitCode(t.ExitCode) {
		case spec.ExitFailed:
			v.outcome = outFailed
		case spec.ExitRefused:
			v.outcome = outRefused
		case spec.ExitDrainTimedOut:
			v.outcome = outDrainTimedOut
		case spec.ExitRolledBack:
			v.outcome = outRolledBack
		}
		return v
	}
	return v
}

func judgeRunning(pod *corev1.Pod, now time.Time, l Limits, deadline time.Duration) verdict {
	created := pod.CreationTimestamp.Time
	stuckAt := created.Add(deadline)
	if !now.Before(stuckAt) {
		return verdict{outcome: outStuck, step: runningStep(pod), ended: stuckAt,
			message: fmt.Sprintf("Pod %s has run for more than %s", pod.Name, duration.HumanDuration(deadline))}
	}
	if begun(pod) {
		return judgeBegun(pod, now, l, stuckAt)
	}
	pullBy, startBy := created.Add(l.ImagePull), created.Add(l.PodStart)
	message, failing := pullFailure(pod)
	switch {
	case failing && !now.Before(pullBy):
		return verdict{outcome: outImageUnavailable, ended: pullBy, message: message}
	case !now.Before(startBy):
		return verdict{outcome: outNotStarted, ended: startBy, message: podMessage(pod)}
	case now.Before(pullBy):
		return verdict{outcome: outRunning, message: message, due: pullBy}
	}
	return verdict{outcome: outRunning, message: message, due: startBy}
}

// judgeBegun notices where a node has restarted between two steps: the kubelet starts no further container of a Pod that is never
// to be restarted once its sandbox is gone, and calls it Pending for ever.
func judgeBegun(pod *corev1.Pod, now time.Time, l Limits, stuckAt time.Time) verdict {
	v := verdict{outcome: outRunning, step: runningStep(pod), due: stuckAt}
	since, gone := sandboxGone(pod)
	if !gone || v.step != "" {
		return v
	}
	if v.due = since.Add(l.SandboxGone); now.Before(v.due) {
		return v
	}
	return verdict{outcome: outInterrupted, ended: since,
		message: fmt.Sprintf("the sandbox of Pod %s is gone between two steps: the node restarted, or its container runtime lost it", pod.Name)}
}

// sandboxGone says whether a Pod that had a sandbox has none, and since when.
func sandboxGone(pod *corev1.Pod) (since time.Time, gone bool) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReadyToStartContainers {
			return c.LastTransitionTime.Time, c.Status == corev1.ConditionFalse
		}
	}
	return time.Time{}, false
}

// pullFailure says why the image is not there, where the kubelet says that it cannot get it.
func pullFailure(pod *corev1.Pod) (string, bool) {
	for _, c := range containers(pod) {
		w := c.State.Waiting
		if w == nil {
			continue
		}
		switch w.Reason {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed":
			return fmt.Sprintf("image %s cannot be pulled: %s: %s", c.Image, w.Reason, w.Message), true
		}
	}
	return "", false
}

func begun(pod *corev1.Pod) bool {
	for _, c := range containers(pod) {
		if c.State.Running != nil || c.State.Terminated != nil {
			return true
		}
	}
	return false
}

func runningStep(pod *corev1.Pod) string {
	for _, c := range containers(pod) {
		if c.State.Running != nil {
			return c.Name
		}
	}
	return ""
}

func endOf(pod *corev1.Pod) time.Time {
	end := pod.CreationTimestamp.Time
	for _, c := range containers(pod) {
		if t := c.State.Terminated; t != nil && t.FinishedAt.After(end) {
			end = t.FinishedAt.Time
		}
	}
	return end
}

func terminationMessage(t *corev1.ContainerStateTerminated) string {
	if message := strings.TrimSpace(t.Message); message != "" {
		return message
	}
	if t.ExitCode == 0 {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("it ended with exit code %d %s", t.ExitCode, t.Reason))
}

// stepMessage is what a step said at its end, without its own name before it: whoever passes it on names it.
func stepMessage(step string, t *corev1.ContainerStateTerminated) string {
	return strings.TrimPrefix(terminationMessage(t), step+": ")
}

func podMessage(pod *corev1.Pod) string {
	text := strings.TrimSuffix(strings.TrimSpace(pod.Status.Reason+": "+pod.Status.Message), ":")
	if text = strings.TrimPrefix(text, ": "); text != "" {
		return text
	}
	for _, c := range pod.Status.Conditions {
		if c.Status == corev1.ConditionFalse && c.Message != "" {
			return c.Message
		}
	}
	return "the kubelet says nothing about the Pod"
}
