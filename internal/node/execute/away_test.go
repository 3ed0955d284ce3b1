package execute_test

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/execute"
	"refit.dev/refit/internal/node/fakehost"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/task"
	"refit.dev/refit/internal/sequence"
)

var (
	errAway = errors.New("connection refused")
	errStep = errors.New("the step's own error")
)

// asks is a step that asks an API server: it ends well at the turn that is told.
type asks struct {
	good  int
	err   error
	turns int
}

// run runs it on a host as a step of that name, with an API server that answers as told.
func (a *asks) run(t *testing.T, h *fakehost.Host, role v1alpha1.NodeType, name v1alpha1.StepName, answers execute.Answers) (string, error) {
	s := h.Spec()
	s.NodeType, s.First = role, false
	req := execute.Request{Root: h.Root, Spec: s, Output: h.Log, Clock: h.Clock, Systemd: h.Systemd, Answers: answers}
	return execute.Step(t.Context(), req, name, func(*task.Task) sequence.Step {
		done := false
		return sequence.Func{Label: string(name), Within: time.Minute,
			IsDone: func(context.Context) (bool, string, error) { return done, "", nil },
			Do: func(context.Context) (string, error) {
				if a.turns++; a.turns < a.good || a.good == 0 {
					return "", a.err
				}
				done = true
				return "asked", nil
			}}
	})
}

// after answers from its nth question on; with 0 never.
func after(n int) execute.Answers {
	asked := 0
	return func(context.Context) error {
		if asked++; n == 0 || asked < n {
			return errAway
		}
		return nil
	}
}

func TestAStepThatFailsWhileTheAPIServerIsAwayIsHeld(t *testing.T) {
	for what, tt := range map[string]struct {
		role    v1alpha1.NodeType
		step    v1alpha1.StepName
		good    int
		err     error
		answers execute.Answers
		turns   int
		code    spec.ExitCode
		dark    bool
	}{
		"it comes back": {role: v1alpha1.NodeTypeWorker, step: v1alpha1.StepKubeadm, good: 2, err: errStep, answers: after(4), turns: 2, code: spec.ExitDone},
		"it stays away": {role: v1alpha1.NodeTypeWorker, step: v1alpha1.StepDrain, err: errStep, answers: after(0), turns: 1, code: spec.ExitInterrupted},
		"it comes and goes": {role: v1alpha1.NodeTypeWorker, step: v1alpha1.StepUncordon, err: errStep, turns: 5, code: spec.ExitInterrupted,
			answers: func() execute.Answers {
				asked := 0
				return func(context.Context) error {
					if asked++; asked%2 == 1 {
						return errAway
					}
					return nil
				}
			}()},
		"it answers":                        {role: v1alpha1.NodeTypeWorker, step: v1alpha1.StepKubeadm, err: errStep, answers: after(1), turns: 1, code: spec.ExitFailed},
		"the step refuses":                  {role: v1alpha1.NodeTypeWorker, step: v1alpha1.StepPreflight, err: spec.Refusef("no"), answers: after(0), turns: 1, code: spec.ExitRefused},
		"a control plane is only looked at": {role: v1alpha1.NodeTypeControlPlane, step: v1alpha1.StepPreflight, good: 2, err: errStep, answers: after(2), turns: 2, code: spec.ExitDone},
		"a control plane that serves is changed": {role: v1alpha1.NodeTypeControlPlane, step: v1alpha1.StepKubeadm, good: 2, err: errStep, answers: after(2), turns: 2,
			code: spec.ExitDone},
		"a control plane that does not serve is changed": {role: v1alpha1.NodeTypeControlPlane, step: v1alpha1.StepKubeadm, err: errStep, answers: after(0), turns: 1,
			code: spec.ExitFailed, dark: true},
	} {
		t.Run(what, func(t *testing.T) {
			g, a, h := NewWithT(t), &asks{good: tt.good, err: tt.err}, fakehost.New(t)
			if tt.dark {
				h.Darken()
			}
			_, err := a.run(t, h, tt.role, tt.step, tt.answers)
			g.Expect(spec.CodeOf(err)).To(Equal(tt.code), "%v", err)
			g.Expect(a.turns).To(Equal(tt.turns))
			if tt.code == spec.ExitInterrupted {
				g.Expect(err).To(MatchError(ContainSubstring("the API server was away")))
				g.Expect(err).To(MatchError(errStep))
			}
		})
	}
}

// The API server of this host is the one that is asked where nobody names another.
func TestTheAPIServerOfTheNodesOwnCredentialsIsAsked(t *testing.T) {
	g, h := NewWithT(t), fakehost.New(t)
	h.Darken()
	a := &asks{good: 2, err: errStep}
	back := time.AfterFunc(100*time.Millisecond, h.Boot)
	defer back.Stop()
	g.Expect(a.run(t, h, v1alpha1.NodeTypeWorker, v1alpha1.StepKubeadm, nil)).To(Equal("asked"))
	g.Expect(h.Log.String()).To(ContainSubstring("the API server does not answer"))
	g.Expect(a.turns).To(Equal(2))

	a = &asks{err: errStep}
	_, err := a.run(t, h, v1alpha1.NodeTypeWorker, v1alpha1.StepKubeadm, nil)
	g.Expect(spec.CodeOf(err)).To(Equal(spec.ExitFailed), "it answers: the failure is the step's own")

	h.Remove("/etc/kubernetes/kubelet.conf")
	a = &asks{err: errStep}
	_, err = a.run(t, h, v1alpha1.NodeTypeWorker, v1alpha1.StepKubeadm, nil)
	g.Expect(spec.CodeOf(err)).To(Equal(spec.ExitFailed), "there is nobody to ask")
}
