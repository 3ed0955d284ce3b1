package launch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/bundle"
	"refit.dev/refit/internal/node/fakehost"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/launch"
	"refit.dev/refit/internal/node/spec"
)

const step = v1alpha1.StepKubeadm

// launcher of a host whose unit of the step does not run.
func launcher(t *testing.T, h *fakehost.Host) (launch.Launcher, *bytes.Buffer) {
	program := filepath.Join(t.TempDir(), "refit-node")
	if err := os.WriteFile(program, []byte("a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := &bytes.Buffer{}
	return launch.Launcher{Root: h.Root, Program: program, Spec: h.Spec(), Bundle: bundle.Manifest{Version: fakehost.To}, Output: out,
		Clock: h.Clock, Systemd: h.Systemd}, out
}

// result is what a run on the host leaves.
func result(h *fakehost.Host, code spec.ExitCode, message string, at time.Time) {
	text := fmt.Sprintf(`{"code":%d,"message":%q,"time":%q}`, code, message, at.Format(time.RFC3339Nano))
	h.Write(spec.UpgradeDir(h.Spec().UpgradeUID)+"/result-kubeadm.json", text, 0o600)
}

func TestLaunch(t *testing.T) {
	t.Run("puts the program and what it needs to know on the host, and starts a unit with a deadline", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		l, _ := launcher(t, h)
		_, err := l.Run(t.Context(), step)
		g.Expect(err).To(MatchError(launch.ErrInterrupted), "the unit of the test ends at once, without a result")
		unit := h.Systemd.Transients["refit-kubeadm.service"]
		g.Expect(unit.Command[1:]).To(Equal([]string{"run", "kubeadm", "--upgrade", h.Spec().UpgradeUID}))
		s := h.Spec()
		g.Expect(unit.Limit).To(BeNumerically(">", s.Deadline(step)))
		g.Expect(unit.Final).NotTo(ContainElement(int32(spec.ExitAgain)))
		g.Expect(h.Read(unit.Command[0])).To(Equal("a program"))
		read, manifest, err := launch.Load(h.Root, h.Spec().UpgradeUID)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(read).To(Equal(h.Spec()))
		g.Expect(manifest.Version).To(Equal(fakehost.To))
	})

	t.Run("joins the run that is under way, and tells how it ended, once", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		l, out := launcher(t, h)
		h.Systemd.States["refit-kubeadm.service"] = host.UnitState{Active: "active",
			Description: "Refit: step kubeadm of upgrade " + h.Spec().UpgradeUID + " to " + fakehost.To}
		h.Write(spec.LogPath(h.Spec().UpgradeUID, "kubeadm"), "said before\n", 0o600)
		go func() {
			<-h.Clock.After(time.Minute)
			result(h, spec.ExitDone, "all well", h.Clock.Now())
			h.Systemd.SetState("refit-kubeadm.service", host.UnitState{})
		}()
		r, err := l.Run(t.Context(), step)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(r.Message).To(Equal("all well"))
		g.Expect(out.String()).To(And(ContainSubstring("joining the run"), ContainSubstring("said before")))
		g.Expect(h.Systemd.Transients).To(BeEmpty())
		g.Expect(h.Read(spec.UpgradeDir(h.Spec().UpgradeUID) + "/result-kubeadm.json")).To(BeEmpty())
	})

	t.Run("hands on the failure of a run that ended while nobody listened, without running again", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		l, _ := launcher(t, h)
		result(h, spec.ExitRolledBack, "put back", h.Clock.Now())
		r, err := l.Run(t.Context(), step)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(r.Code).To(Equal(spec.ExitRolledBack))
		g.Expect(h.Systemd.Transients).To(BeEmpty())
	})

	for name, code := range map[string]spec.ExitCode{"a success": spec.ExitDone, "an old failure": spec.ExitFailed} {
		t.Run("takes no "+name+" from a file, but looks again", func(t *testing.T) {
			g, h := NewWithT(t), fakehost.New(t)
			l, _ := launcher(t, h)
			result(h, code, "earlier", h.Clock.Now().Add(-time.Hour))
			_, err := l.Run(t.Context(), step)
			g.Expect(err).To(MatchError(launch.ErrInterrupted))
			g.Expect(h.Systemd.Transients).To(HaveKey("refit-kubeadm.service"))
		})
	}

	t.Run("does not join the run of another upgrade", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		l, _ := launcher(t, h)
		h.Systemd.States["refit-kubeadm.service"] = host.UnitState{Active: "active", Description: "Refit: step kubeadm of upgrade another to v1.37.0"}
		_, err := l.Run(t.Context(), step)
		g.Expect(err).To(MatchError(And(ContainSubstring("running for something else"), ContainSubstring("systemctl stop"))))
	})
}

func TestResume(t *testing.T) {
	begin := func(t *testing.T) (*WithT, *fakehost.Host) {
		g, h := NewWithT(t), fakehost.New(t)
		l, _ := launcher(t, h)
		_, err := l.Run(t.Context(), step)
		g.Expect(err).To(HaveOccurred())
		g.Expect(launch.Begin(h.Root, h.Spec().UpgradeUID, step)).To(Succeed())
		return g, h
	}

	t.Run("a boot goes on with the step that is in flight, and with none once it has ended", func(t *testing.T) {
		g, h := begin(t)
		g.Expect(h.Read(spec.ResumeUnit)).To(ContainSubstring("resume"))
		g.Expect(os.Readlink(h.Path(spec.ResumeWanted))).To(Equal(spec.ResumeUnit))
		clear(h.Systemd.Transients)
		g.Expect(launch.Resume(t.Context(), h.Root, h.Systemd)).To(ContainSubstring("going on with step kubeadm"))
		g.Expect(h.Systemd.Transients).To(HaveKey("refit-kubeadm.service"))

		g.Expect(launch.End(h.Root, h.Spec().UpgradeUID, step, launch.Result{Code: spec.ExitDone})).To(Succeed())
		g.Expect(launch.Resume(t.Context(), h.Root, h.Systemd)).To(Equal("no step was in flight"))
	})

	t.Run("a step that never ends is not begun again at every boot for ever", func(t *testing.T) {
		g, h := begin(t)
		for range 5 {
			_, err := launch.Resume(t.Context(), h.Root, h.Systemd)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(launch.Begin(h.Root, h.Spec().UpgradeUID, step)).To(Succeed())
		}
		_, err := launch.Resume(t.Context(), h.Root, h.Systemd)
		g.Expect(err).To(MatchError(ContainSubstring("not again")))
	})

	t.Run("the steps of a new Pod come after the one in flight", func(t *testing.T) {
		g, h := begin(t)
		l, out := launcher(t, h)
		h.Systemd.States["refit-kubeadm.service"] = host.UnitState{Active: "active"}
		g.Expect(l.AwaitInFlight(t.Context(), step)).To(Succeed(), "it is this very step, which is joined")
		go func() {
			<-h.Clock.After(time.Minute)
			h.Systemd.SetState("refit-kubeadm.service", host.UnitState{})
		}()
		g.Expect(l.AwaitInFlight(t.Context(), v1alpha1.StepPreflight)).To(Succeed())
		g.Expect(out.String()).To(ContainSubstring("waiting for step kubeadm"))
	})

	t.Run("the note of the step in flight is whole JSON", func(t *testing.T) {
		g, h := begin(t)
		g.Expect(json.Valid([]byte(h.Read(spec.StateDir + "/in-flight.json")))).To(BeTrue())
		g.Expect(strings.Contains(h.Read(spec.StateDir+"/in-flight.json"), "kubeadm")).To(BeTrue())
	})
}
