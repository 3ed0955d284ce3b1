package agent_test

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/agent"
	"refit.dev/refit/internal/node/fakehost"
	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/sequence"
)

func run(t *testing.T, h *fakehost.Host, role v1alpha1.NodeType) (string, error) {
	s := h.Spec()
	s.NodeType = role
	task := h.Task(s)
	return task.Runner("").Run(t.Context(), agent.Kubelet{Task: task})
}

func TestKubelet(t *testing.T) {
	for _, role := range []v1alpha1.NodeType{v1alpha1.NodeTypeWorker, v1alpha1.NodeTypeControlPlane} {
		t.Run("replaces and restarts the kubelet of a "+string(role)+", once", func(t *testing.T) {
			g, h := NewWithT(t), fakehost.New(t)
			_, err := run(t, h, role)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(h.Read("/usr/bin/kubelet")).To(ContainSubstring(fakehost.To))
			g.Expect(h.Read("/usr/bin/kubectl")).To(ContainSubstring(fakehost.To))
			g.Expect(run(t, h, role)).To(ContainSubstring("runs and is healthy"))
			g.Expect(h.Runtime.Running(staticpod.APIServer)).NotTo(BeEmpty())
		})

		t.Run("puts the old kubelet of a "+string(role)+" back when the new one ends as soon as it is started", func(t *testing.T) {
			g, h := NewWithT(t), fakehost.New(t)
			h.Systemd.Crashes[h.Sum(spec.VersionDir(fakehost.To)+"/bin/kubelet")] = true
			_, err := run(t, h, role)
			var undone *sequence.UndoneError
			g.Expect(errors.As(err, &undone)).To(BeTrue(), "%v", err)
			g.Expect(h.Read("/usr/bin/kubelet")).To(ContainSubstring(fakehost.From))
			g.Expect(h.Read("/usr/bin/kubectl")).To(ContainSubstring(fakehost.From))
			g.Expect(h.Systemd.State(t.Context(), host.KubeletUnit)).To(HaveField("Active", "active"))
			g.Expect(h.Runtime.Running(staticpod.APIServer)).NotTo(BeEmpty())
		})

		t.Run("a power cut at each change of a "+string(role)+" leaves a whole kubelet, and the next run ends at the new one", func(t *testing.T) {
			g, h := NewWithT(t), fakehost.New(t)
			_, err := run(t, h, role)
			g.Expect(err).NotTo(HaveOccurred())
			changes := h.Power.Used()
			for cut := range changes {
				h := fakehost.New(t)
				h.Power.CutAfter(cut)
				_, err := run(t, h, role)
				g.Expect(err).To(HaveOccurred(), "cut after %d of %d", cut, changes)
				g.Expect(h.Read("/usr/bin/kubelet")).To(MatchRegexp(`(?s)^#!.*v1\.3[56]\.[34]\n$`))
				h.Boot()
				_, err = run(t, h, role)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(h.Read("/usr/bin/kubelet")).To(ContainSubstring(fakehost.To))
				if role == v1alpha1.NodeTypeWorker { // a control plane's flags are seen to with its static pods
					g.Expect(h.Read("/var/lib/kubelet/kubeadm-flags.env")).To(Equal("KUBELET_KUBEADM_ARGS=\"\"\n"))
				}
			}
		})
	}
}
