package spec_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/sequence"
)

func valid() spec.Spec {
	return spec.Spec{UpgradeUID: "8a6e0f5e-0b0f-4a3f-9c39-0d6f3d3f4a55", NodeName: "cp-1", Version: "v1.36.3", FromVersion: "v1.35.4",
		NodeType: v1alpha1.NodeTypeControlPlane, Drain: spec.DrainFrom(nil), Attempt: 1}
}

func TestSpec(t *testing.T) {
	t.Run("survives the way through the environment", func(t *testing.T) {
		g := NewWithT(t)
		s := valid()
		seconds := int64(30)
		s.Drain.GracePeriodSeconds = &seconds
		encoded, err := s.Encode()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(encoded).To(ContainSubstring(`"timeout":"10m0s"`))
		g.Expect(spec.Parse(encoded)).To(Equal(s))
	})

	for name, change := range map[string]func(*spec.Spec){
		"a UID that leaves its folder": func(s *spec.Spec) { s.UpgradeUID = "../../etc" },
		"a node name with a slash":     func(s *spec.Spec) { s.NodeName = "a/b" },
		"a version that is none":       func(s *spec.Spec) { s.Version = "latest" },
		"an old version that is none":  func(s *spec.Spec) { s.FromVersion = "v1.35.4/.." },
		"a role that is none":          func(s *spec.Spec) { s.NodeType = "Ingress" },
		"a backup of a node with dots": func(s *spec.Spec) { s.BackupOf = "../x" },
		"nothing at all":               func(s *spec.Spec) { *s = spec.Spec{} },
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			g := NewWithT(t)
			s := valid()
			change(&s)
			encoded, err := s.Encode()
			g.Expect(err).NotTo(HaveOccurred())
			_, err = spec.Parse(encoded)
			g.Expect(err).To(MatchError(ContainSubstring("not valid")))
		})
	}

	t.Run("fills in the defaults of a drain policy", func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(spec.DrainFrom(nil)).To(Equal(spec.DrainFrom(&v1alpha1.DrainPolicy{})))
		d := spec.DrainFrom(&v1alpha1.DrainPolicy{Mode: v1alpha1.DrainAlways, Timeout: &metav1.Duration{Duration: time.Minute}, OnTimeout: v1alpha1.DrainForce})
		g.Expect(d).To(Equal(spec.Drain{Mode: v1alpha1.DrainAlways, Timeout: spec.Duration(time.Minute), OnTimeout: v1alpha1.DrainForce}))
	})

	t.Run("drains before anything of the version is put in, and gives every step a deadline", func(t *testing.T) {
		g := NewWithT(t)
		for _, role := range []v1alpha1.NodeType{v1alpha1.NodeTypeControlPlane, v1alpha1.NodeTypeWorker} {
			steps := spec.Steps(role)
			index := map[v1alpha1.StepName]int{}
			s := valid()
			for i, step := range steps {
				index[step] = i
				g.Expect(s.Deadline(step)).To(BeNumerically(">", 0))
			}
			g.Expect(index[v1alpha1.StepDrain]).To(BeNumerically("<", index[v1alpha1.StepKubeadm]))
			g.Expect(index[v1alpha1.StepKubeadm]).To(BeNumerically("<", index[v1alpha1.StepKubelet]))
			g.Expect(steps[:3]).To(Equal(spec.StagingSteps()))
		}
		g.Expect(spec.Steps(v1alpha1.NodeTypeWorker)).NotTo(ContainElement(v1alpha1.StepBackupEtcd))
	})
}

func TestExitCodes(t *testing.T) {
	g := NewWithT(t)
	g.Expect(spec.CodeOf(nil)).To(Equal(spec.ExitDone))
	g.Expect(spec.CodeOf(errors.New("any"))).To(Equal(spec.ExitFailed))
	g.Expect(spec.CodeOf(fmt.Errorf("on cp-1: %w", spec.Refusef("no")))).To(Equal(spec.ExitRefused))
	g.Expect(spec.CodeOf(errors.Join(errors.New("and"), spec.DrainTimedOutf("late")))).To(Equal(spec.ExitDrainTimedOut))
	g.Expect(spec.CodeOf(&sequence.UndoneError{Cause: spec.Refusef("no"), Message: "put back"})).To(Equal(spec.ExitRolledBack))
	g.Expect(spec.ExitCode(137).Known()).To(BeFalse())
	g.Expect(spec.ExitInterrupted.Known()).To(BeFalse())
	g.Expect(spec.ExitRolledBack.Known()).To(BeTrue())
}

func TestShorten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.StringMatching(`[a-zé…\n ]{1,40}`).Draw(t, "text"), rapid.IntRange(1, 200).Draw(t, "times"))
		short := spec.Shorten(text)
		if len(short) > spec.MaxMessage || !utf8.ValidString(short) || strings.Contains(short, "\n") {
			t.Fatalf("%d bytes, valid %v: %q", len(short), utf8.ValidString(short), short)
		}
	})
}
