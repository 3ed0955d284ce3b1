package programs_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/node/fakehost"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/programs"
	"refit.dev/refit/internal/node/replace"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/sequence"
)

func TestCopy(t *testing.T) {
	// image is the bundle's folder as it is in the container, and the step that copies from it.
	image := func(t *testing.T, h *fakehost.Host) (string, programs.Copy) {
		dir := t.TempDir()
		task := h.Task(h.Spec())
		for _, f := range task.Bundle.Files {
			target := filepath.Join(dir, f.Path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(target), 0o755),
				os.WriteFile(target, []byte(h.Read(spec.VersionDir(fakehost.To)+"/"+f.Path)), 0o755)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.RemoveAll(h.Path(spec.VersionDir(fakehost.To))); err != nil {
			t.Fatal(err)
		}
		return dir, programs.Copy{Task: task, Source: dir}
	}

	t.Run("copies every program, and is done only when each is right", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		_, step := image(t, h)
		g.Expect(step.Runner("").Run(t.Context(), step)).To(ContainSubstring("copied 10 programs"))
		h.Write(spec.VersionDir(fakehost.To)+"/bin/kubelet", "half a prog", 0o755)
		done, why, err := step.Done(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(done).To(BeFalse())
		g.Expect(why).To(ContainSubstring("bin/kubelet"))
		g.Expect(step.Runner("").Run(t.Context(), step)).To(ContainSubstring("copied 1 programs"))
	})

	t.Run("refuses a damaged image, names the file, and copies nothing", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		dir, step := image(t, h)
		g.Expect(os.WriteFile(filepath.Join(dir, "bin/runc"), []byte("flipped"), 0o755)).To(Succeed())
		_, err := step.Run(t.Context())
		g.Expect(spec.CodeOf(err)).To(Equal(spec.ExitRefused))
		g.Expect(err).To(MatchError(ContainSubstring("bin/runc")))
		g.Expect(h.Path(spec.VersionDir(fakehost.To))).NotTo(BeADirectory())
	})

	t.Run("refuses the image of another version", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		_, step := image(t, h)
		step.Spec.Version = "v1.37.0"
		_, _, err := step.Done(t.Context())
		g.Expect(spec.CodeOf(err)).To(Equal(spec.ExitRefused))
	})
}

func TestContainerd(t *testing.T) {
	run := func(t *testing.T, h *fakehost.Host) (string, error) {
		task := h.Task(h.Spec())
		return task.Runner("").Run(t.Context(), programs.Containerd{Task: task})
	}

	t.Run("replaces containerd, its shim, ctr and runc where the host has them, and restarts it", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		h.Write("/etc/containerd/config.toml", "[plugins.runc.options]\n  BinaryName = \"/opt/runc/runc\"\n", 0o644)
		h.Write("/opt/runc/runc", "#!/bin/sh\necho runc version 1.2.3\n", 0o755)
		g.Expect(run(t, h)).To(ContainSubstring("restarted containerd"))
		g.Expect(h.Sum("/opt/runc/runc")).To(Equal(h.Sum(spec.VersionDir(fakehost.To) + "/bin/runc")))
		g.Expect(h.Read(replace.Kept("/opt/runc/runc", "v1.2.3"))).To(ContainSubstring("1.2.3"))
		g.Expect(h.Read("/usr/sbin/runc")).To(ContainSubstring(fakehost.From), "not the one that containerd uses")
		for _, name := range []string{"containerd", "containerd-shim-runc-v2", "ctr"} {
			g.Expect(h.Read("/usr/bin/" + name)).To(ContainSubstring(fakehost.To))
		}
	})

	t.Run("restarts a containerd that is still the old one, as after a power cut between the two", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		g.Expect(run(t, h)).To(ContainSubstring("restarted"))
		h.Write("/usr/bin/containerd", h.Read("/usr/bin/containerd"), 0o755)
		g.Expect(h.Systemd.Stop(t.Context(), host.ContainerdUnit)).To(Succeed())
		g.Expect(run(t, h)).To(ContainSubstring("restarted"))
		g.Expect(run(t, h)).NotTo(ContainSubstring("restarted"))
	})

	t.Run("puts the old ones back when the new one does not start", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		h.Systemd.Crashes[h.Sum(spec.VersionDir(fakehost.To)+"/bin/containerd")] = true
		task := h.Task(h.Spec())
		task.Clock = fakehost.NewFastClock(100)
		_, err := task.Runner("").Run(t.Context(), shortDeadline{programs.Containerd{Task: task}})
		var undone *sequence.UndoneError
		g.Expect(errors.As(err, &undone)).To(BeTrue(), "%v", err)
		for _, name := range []string{"/usr/bin/containerd", "/usr/bin/ctr", "/usr/sbin/runc"} {
			g.Expect(h.Read(name)).To(ContainSubstring(fakehost.From))
		}
	})
}

func TestCNI(t *testing.T) {
	g, h := NewWithT(t), fakehost.New(t)
	h.Write("/etc/containerd/config.toml", "  bin_dirs = ['/usr/libexec/cni']\n", 0o644)
	h.Write("/usr/libexec/cni/calico", "somebody else's", 0o755)
	task := h.Task(h.Spec())
	_, err := task.Runner("").Run(t.Context(), programs.CNI{Task: task})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(h.Read("/usr/libexec/cni/bridge")).To(ContainSubstring(fakehost.To))
	g.Expect(h.Read("/usr/libexec/cni/calico")).To(Equal("somebody else's"))
	g.Expect(h.Read("/opt/cni/bin/bridge")).To(ContainSubstring(fakehost.From))
}
