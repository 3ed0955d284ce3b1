package preflight_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/fakehost"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/preflight"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
)

func run(t *testing.T, h *fakehost.Host, change ...func(*task.Task)) (string, error) {
	t.Helper()
	h.Clock = fakehost.NewFastClock(50)
	upgrade := h.Task(h.Spec())
	for _, c := range change {
		c(upgrade)
	}
	return upgrade.Runner("").Run(t.Context(), preflight.New(upgrade))
}

func TestPreflight(t *testing.T) {
	t.Run("passes a healthy control plane and changes nothing of it", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		g.Expect(run(t, h)).To(Equal("12 checks passed"))
		g.Expect(h.Read("/usr/bin/kubelet")).To(ContainSubstring(fakehost.From))
		g.Expect(h.Runtime.Running(staticpod.APIServer)).To(ContainSubstring(fakehost.From))
		g.Expect(h.Path(spec.UpgradeDir("0123-uid") + "/drift")).NotTo(BeADirectory())
	})

	manifest := func(component string) string { return staticpod.File(task.DefaultManifests, component) }
	edit := func(h *fakehost.Host, file, old, new string) {
		h.Write(file, strings.Replace(h.Read(file), old, new, 1), 0o600)
	}
	for _, c := range []struct {
		name   string
		spoil  func(h *fakehost.Host)
		change func(*task.Task)
		want   []string
	}{
		{name: "another node than this host is", change: func(u *task.Task) { u.Spec.NodeName = "cp-9" }, want: []string{"this host is node cp-1, not cp-9"}},
		{name: "a host that kubeadm did not set up", spoil: func(h *fakehost.Host) { h.Remove("/etc/kubernetes/kubelet.conf") },
			want: []string{"kubelet.conf is missing"}},
		{name: "an API server on what is to be a worker", change: func(u *task.Task) { u.Spec.NodeType = v1alpha1.NodeTypeWorker },
			want: []string{"is to be upgraded as a worker"}},
		{name: "a kubelet program that is missing", spoil: func(h *fakehost.Host) { h.Remove("/usr/bin/kubelet") }, want: []string{"/usr/bin/kubelet, which is missing"}},
		{name: "a containerd whose restart ends every container", spoil: func(h *fakehost.Host) {
			h.Systemd.KillModes[host.ContainerdUnit] = "control-group"
		}, want: []string{"KillMode=control-group"}},
		{name: "cgroup drivers that differ", spoil: func(h *fakehost.Host) { h.Runtime.Driver = runtime.CgroupDriver_SYSTEMD },
			want: []string{"cgroup driver cgroupfs, containerd uses systemd"}},
		{name: "a runtime that is not containerd", spoil: func(h *fakehost.Host) { h.Runtime.Name = "cri-o" }, want: []string{"cri-o"}},
		{name: "a containerd that is too old for the target, counting the bundle's", change: func(u *task.Task) {
			u.Bundle.Components = []v1alpha1.Component{{Name: "containerd", Version: "v1.7.30"}}
		}, want: []string{"needs containerd 2"}},
		{name: "a copy of a manifest in the folder that runs as a pod", spoil: func(h *fakehost.Host) {
			h.Write("/etc/kubernetes/manifests/kube-apiserver.yaml.bak", "x", 0o600)
		}, want: []string{"kube-apiserver.yaml.bak", "move it away"}},
		{name: "an etcd from which there is no way", spoil: func(h *fakehost.Host) { edit(h, manifest(staticpod.Etcd), "3.6.6-0", "3.5.24-0") },
			want: []string{"3.5.26 or later first"}},
		{name: "a clock that is far off", spoil: func(h *fakehost.Host) { h.Skew = time.Hour }, want: []string{"from the API server's: set it"}},
		{name: "all that it finds, together", spoil: func(h *fakehost.Host) {
			h.Runtime.Driver = runtime.CgroupDriver_SYSTEMD
			h.Write("/etc/kubernetes/manifests/etcd-old.yaml", "x", 0o600)
		}, want: []string{"(1)", "cgroup driver", "(2)", "etcd-old.yaml"}},
	} {
		t.Run("refuses "+c.name, func(t *testing.T) {
			g, h := NewWithT(t), fakehost.New(t)
			if c.spoil != nil {
				c.spoil(h)
			}
			change := func(*task.Task) {}
			if c.change != nil {
				change = c.change
			}
			_, err := run(t, h, change)
			g.Expect(spec.CodeOf(err)).To(Equal(spec.ExitRefused), "%v", err)
			g.Expect(err).To(MatchError(ContainSubstring("nothing was changed")))
			for _, want := range c.want {
				g.Expect(err).To(MatchError(ContainSubstring(want)))
			}
		})
	}

	t.Run("refuses a control plane that does not serve, unless its own upgrade has begun", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		edit(h, manifest(staticpod.APIServer), fakehost.From, "v1.35.9")
		g.Expect(h.Systemd.Stop(t.Context(), host.KubeletUnit)).To(Succeed())
		_, err := run(t, h)
		g.Expect(err).To(MatchError(ContainSubstring("an upgrade starts from a healthy control plane only")))
		h.Write(spec.UpgradeDir("0123-uid")+"/manifests-old/kube-apiserver.yaml", "as it was", 0o600)
		g.Expect(run(t, h)).To(ContainSubstring("going on, as its upgrade has begun"))
	})

	t.Run("warns of a static pod that was changed by hand, and says how to keep the change", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		edit(h, manifest(staticpod.Scheduler), "    - --listen", "    - --v=4\n    - --listen")
		g.Expect(run(t, h)).To(And(ContainSubstring("kube-scheduler was changed by hand"), ContainSubstring("--v=4"), ContainSubstring("/etc/kubernetes/patches")))
	})

	t.Run("warns of a missing manifest, which step kubeadm brings back", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		h.Remove(manifest(staticpod.Scheduler))
		g.Expect(run(t, h)).To(ContainSubstring("no manifest of kube-scheduler"))
	})
}
