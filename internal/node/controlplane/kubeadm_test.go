package controlplane_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/node/controlplane"
	"refit.dev/refit/internal/node/fakehost"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/programs"
	"refit.dev/refit/internal/node/replace"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
	"refit.dev/refit/internal/sequence"
)

// run runs step kubeadm as execute does.
func run(t *testing.T, h *fakehost.Host, s spec.Spec) error {
	t.Helper()
	upgrade := h.Task(s)
	_, err := upgrade.Runner("").Run(t.Context(), controlplane.NewKubeadm(upgrade))
	return err
}

// version of each thing that has one, as it is on disk.
func onDisk(h *fakehost.Host) map[string]string {
	out := map[string]string{}
	for component, image := range h.Images() {
		_, out[component], _ = strings.Cut(image, ":")
	}
	out["kubelet"] = fakehost.From
	if strings.Contains(h.Read("/usr/bin/kubelet"), fakehost.To) {
		out["kubelet"] = fakehost.To
	}
	return out
}

func allAt(version, etcd string) map[string]string {
	return map[string]string{staticpod.APIServer: version, staticpod.ControllerManager: version, staticpod.Scheduler: version,
		staticpod.Etcd: etcd, "kubelet": version}
}

var (
	allOld = allAt(fakehost.From, "3.6.6-0")
	allNew = allAt(fakehost.To, "3.6.8-0")
)

// legal says what is wrong with a mix of versions: nothing may be newer than the API server.
func legal(g *WithT, mix map[string]string) {
	g.ExpectWithOffset(1, mix).To(HaveLen(5), "a manifest is missing")
	for _, name := range []string{staticpod.ControllerManager, staticpod.Scheduler, "kubelet"} {
		if mix[staticpod.APIServer] == fakehost.From {
			g.ExpectWithOffset(1, mix[name]).To(Equal(fakehost.From), "%s is newer than the API server: %v", name, mix)
		}
	}
}

func TestKubeadm(t *testing.T) {
	t.Run("brings static pods and kubelet to the version with one restart, and has kubeadm do the rest", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		g.Expect(run(t, h, h.Spec())).To(Succeed())
		g.Expect(onDisk(h)).To(Equal(allNew))
		g.Expect(h.Read("/var/lib/kubelet/kubeadm-flags.env")).To(Equal("KUBELET_KUBEADM_ARGS=\"\"\n"))
		for component, image := range h.Images() {
			g.Expect(h.Runtime.Running(component)).To(Equal(image))
		}
		calls := h.Read("/kubeadm.calls")
		g.Expect(calls).To(MatchRegexp(`(?s)upgrade apply phase preflight v1.36.3.*init phase control-plane all.*init phase etcd local.*certs renew all.*` +
			`upgrade apply phase kubelet-config v1.36.3.*upgrade apply v1.36.3 --yes .*--skip-phases preflight`))
		g.Expect(h.Read(replace.Kept("/usr/bin/kubelet", fakehost.From))).To(ContainSubstring(fakehost.From))
	})

	t.Run("run again, changes nothing", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		g.Expect(run(t, h, h.Spec())).To(Succeed())
		g.Expect(os.Remove(h.Path("/kubeadm.calls"))).To(Succeed())
		h.Power.CutAfter(-1)
		g.Expect(run(t, h, h.Spec())).To(Succeed())
		g.Expect(h.Power.Used()).To(BeZero())
		g.Expect(h.Read("/kubeadm.calls")).To(BeEmpty())
	})

	t.Run("runs upgrade node on the other control planes", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		s := h.Spec()
		s.First = false
		g.Expect(run(t, h, s)).To(Succeed())
		g.Expect(h.Read("/kubeadm.calls")).To(And(ContainSubstring("upgrade node"), Not(ContainSubstring("upgrade apply"))))
	})

	t.Run("refuses, with nothing changed, what kubeadm refuses", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		h.Write("/kubeadm.fails", "", 0o600)
		before := h.Runtime.Running(staticpod.APIServer)
		g.Expect(run(t, h, h.Spec())).To(MatchError(And(ContainSubstring("nothing was changed"), ContainSubstring("not today"))))
		g.Expect(onDisk(h)).To(Equal(allOld))
		g.Expect(h.Runtime.Running(staticpod.APIServer)).To(Equal(before))
	})

	t.Run("puts everything back when the new kubelet ends as soon as it is started", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		h.Systemd.Crashes[h.Sum(spec.VersionDir(fakehost.To)+"/bin/kubelet")] = true
		err := run(t, h, h.Spec())
		var undone *sequence.UndoneError
		g.Expect(errors.As(err, &undone)).To(BeTrue(), "%v", err)
		g.Expect(spec.CodeOf(err)).To(Equal(spec.ExitRolledBack))
		g.Expect(err).To(MatchError(ContainSubstring("journalctl -u kubelet")))
		g.Expect(onDisk(h)).To(Equal(allOld))
		for component, image := range h.Images() {
			g.Expect(h.Runtime.Running(component)).To(Equal(image))
		}
		g.Expect(h.Systemd.State(t.Context(), host.KubeletUnit)).To(HaveField("Active", "active"))
	})

	t.Run("leaves a newer etcd where it is", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		file := staticpod.File(task.DefaultManifests, staticpod.Etcd)
		h.Write(file, strings.Replace(h.Read(file), "3.6.6-0", "3.6.99-0", 1), 0o600)
		h.Boot()
		g.Expect(run(t, h, h.Spec())).To(Succeed())
		g.Expect(onDisk(h)).To(HaveKeyWithValue(staticpod.Etcd, "3.6.99-0"))
	})

	t.Run("brings back a manifest that a power cut between kubeadm's renames has lost", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		file := staticpod.File(task.DefaultManifests, staticpod.APIServer)
		h.Write("/etc/kubernetes/tmp/kubeadm-backup-manifests-2026-11-20/kube-apiserver.yaml", h.Read(file), 0o600)
		g.Expect(os.Remove(h.Path(file))).To(Succeed())
		h.Boot()
		g.Expect(run(t, h, h.Spec())).To(Succeed())
		g.Expect(onDisk(h)).To(Equal(allNew))
	})

	t.Run("says what to do about a lost manifest that nobody kept", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		g.Expect(os.Remove(h.Path(staticpod.File(task.DefaultManifests, staticpod.Scheduler)))).To(Succeed())
		err := run(t, h, h.Spec())
		g.Expect(spec.CodeOf(err)).To(Equal(spec.ExitRefused))
		g.Expect(err).To(MatchError(And(ContainSubstring("kube-scheduler"), ContainSubstring("bring it back by hand"))))
	})

	t.Run("leaves the kubelet to its own step where it does not talk to the local API server", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		conf := h.Read("/etc/kubernetes/kubelet.conf")
		i := strings.Index(conf, "https://")
		h.Write("/etc/kubernetes/kubelet.conf", conf[:i]+"https://lb.example:6443"+conf[strings.Index(conf[i:], `"`)+i:], 0o600)
		g.Expect(run(t, h, h.Spec())).To(Succeed())
		want := allAt(fakehost.To, "3.6.8-0")
		want["kubelet"] = fakehost.From
		g.Expect(onDisk(h)).To(Equal(want))
	})
}

// However the power is cut, at each single change of the world in turn: after it nothing is half, every manifest is there, the mix of
// versions is legal, and the host, which begins the step again at its next boot, ends whole at the new version.
func TestPowerCutAtEachChange(t *testing.T) {
	g, h := NewWithT(t), fakehost.New(t)
	h.Power.CutAfter(-1)
	g.Expect(run(t, h, h.Spec())).To(Succeed())
	changes := h.Power.Used()
	g.Expect(changes).To(BeNumerically(">", 20))
	step := 1
	if testing.Short() {
		step = 5
	}
	for cut := 0; cut < changes; cut += step {
		h := fakehost.New(t)
		h.Power.CutAfter(cut)
		g.Expect(run(t, h, h.Spec())).NotTo(Succeed(), "cut after %d of %d changes", cut, changes)
		legal(g, onDisk(h))
		h.Boot()
		g.Expect(run(t, h, h.Spec())).To(Succeed(), "after the cut at %d:\n%s", cut, h.Log)
		g.Expect(onDisk(h)).To(Equal(allNew))
		for component, image := range h.Images() {
			g.Expect(h.Runtime.Running(component)).To(Equal(image))
		}
		kept := programs.Set{Task: h.Task(h.Spec()), Group: "kubelet"}
		g.Expect(kept.Changed()).To(BeFalse())
	}
}
