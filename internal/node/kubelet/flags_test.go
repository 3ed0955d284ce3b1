package kubelet_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/node/fakehost"
	"refit.dev/refit/internal/node/kubelet"
)

func TestFlagsThatTheNewKubeletRefusesAreTakenOut(t *testing.T) {
	const file = "/var/lib/kubelet/kubeadm-flags.env"
	for _, tt := range []struct{ name, to, before, after string }{
		{"the flag between others", "v1.35.4", `A="--a=b --pod-infra-container-image=registry.k8s.io/pause:3.10.1 --c=d"`, `A="--a=b --c=d"`},
		{"the only flag, over two minors", "v1.36.3", `A="--pod-infra-container-image=registry.k8s.io/pause:3.10.1"`, `A=""`},
		{"the value apart", "v1.35.4", `A="--a=b --pod-infra-container-image registry.k8s.io/pause:3.10"`, `A="--a=b"`},
		{"a kubelet that still takes it", "v1.34.4", `A="--pod-infra-container-image=p"`, `A="--pod-infra-container-image=p"`},
		{"other flags", "v1.36.3", `A="--a=b"`, `A="--a=b"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, h := NewWithT(t), fakehost.New(t)
			h.Write(file, tt.before+"\n", 0o644)
			s := h.Spec()
			s.Version = tt.to
			g.Expect(kubelet.DropRetiredFlags(h.Task(s))).To(Succeed())
			g.Expect(h.Read(file)).To(Equal(tt.after + "\n"))
		})
	}
	t.Run("no file", func(t *testing.T) {
		g, h := NewWithT(t), fakehost.New(t)
		h.Remove(file)
		g.Expect(kubelet.DropRetiredFlags(h.Task(h.Spec()))).To(Succeed())
	})
}
