package nodeupgrade

import (
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
)

const maxStepMessage = 1024

// follow works out the steps from a Pod's containers. Steps that the Pod has no container for, or whose container has not
// begun, are Pending; what earlier attempts left in attempt, times and message stays until the step begins again.
func follow(pod *corev1.Pod, order []v1alpha1.StepName, before []v1alpha1.StepStatus) []v1alpha1.StepStatus {
	byName := map[string]corev1.ContainerStatus{}
	for _, c := range containers(pod) {
		byName[c.Name] = c
	}
	steps := make([]v1alpha1.StepStatus, 0, len(order))
	for _, name := range order {
		step := v1alpha1.StepStatus{Name: name}
		for _, b := range before {
			if b.Name == name {
				step = *b.DeepCopy()
			}
		}
		followStep(&step, byName[string(name)].State)
		steps = append(steps, step)
	}
	return steps
}

func followStep(step *v1alpha1.StepStatus, state corev1.ContainerState) {
	switch {
	case state.Running != nil:
		begin(step, state.Running.StartedAt)
		step.State, step.FinishedAt, step.Message = v1alpha1.StepRunning, nil, ""
	case state.Terminated != nil:
		t := state.Terminated
		begin(step, t.StartedAt)
		step.State, step.Message = v1alpha1.StepFailed, clip(stepMessage(string(step.Name), t))
		if t.ExitCode == 0 {
			step.State = v1alpha1.StepSucceeded
		}
		if !t.FinishedAt.IsZero() {
			step.FinishedAt = t.FinishedAt.DeepCopy()
		}
	default:
		step.State = v1alpha1.StepPending
	}
}

// begin counts an attempt, once: the same attempt is recognised by the time that it began.
func begin(step *v1alpha1.StepStatus, at metav1.Time) {
	if at.IsZero() { // a container that was lost before the kubelet knew when it began
		step.Attempt = max(step.Attempt, 1)
		return
	}
	if step.StartedAt != nil && step.StartedAt.Equal(&at) && step.Attempt > 0 {
		return
	}
	step.Attempt++
	step.StartedAt = at.DeepCopy()
}

// clip cuts a message to what the API takes, at the border of a character.
func clip(s string) string {
	if utf8.RuneCountInString(s) <= maxStepMessage {
		return s
	}
	return string([]rune(s)[:maxStepMessage-1]) + "…"
}
