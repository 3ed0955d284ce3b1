package lab

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/lab/parts"
)

// TestALabIsARealCluster needs a Docker Engine and, the first time, many minutes: it only runs with REFIT_LAB_TEST set.
func TestALabIsARealCluster(t *testing.T) {
	if os.Getenv("REFIT_LAB_TEST") == "" {
		t.Skip("set REFIT_LAB_TEST=1 to bring up a lab")
	}
	g := NewWithT(t)
	o := Options{Name: "lab-test", ControlPlanes: 1, Workers: 1, Dir: t.TempDir(), Log: os.Stderr}
	l, err := Up(t.Context(), o)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		g.Expect(l.Down(ctx)).To(Succeed())
		g.Expect(anything(ctx, o.Name)).To(BeFalse(), "nothing may be left")
	})
	kubectl := kubectlOf(t, l)

	config := kubectl("-n", "kube-system", "get", "configmap", "kubeadm-config", "-o", "yaml")
	g.Expect(config).NotTo(ContainSubstring("disabled"), "an upgrade must upgrade the name server, too")

	g.Expect(l.PublishWebApp(t.Context(), os.Stderr)).To(Succeed())
	apply := exec.CommandContext(t.Context(), "sh", "-c", `printf '%s' "$0" | `+program(t, l)+` --kubeconfig `+l.Kubeconfig()+` apply -f -`, WebAppManifest)
	out, err := apply.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	g.Eventually(func() int { return ask(l) }).WithTimeout(time.Minute).WithPolling(time.Second).Should(Equal(http.StatusOK))

	worker, err := l.Host("worker-1")
	g.Expect(err).NotTo(HaveOccurred())
	before := bootID(kubectl)
	g.Expect(worker.PowerCut(t.Context())).To(Succeed())
	g.Expect(worker.State(t.Context())).To(Equal("exited"))
	g.Expect(worker.PowerOn(t.Context())).To(Succeed())
	g.Expect(worker.AwaitBoot(t.Context())).To(Succeed())
	g.Eventually(func() string { return bootID(kubectl) }).WithTimeout(2 * time.Minute).WithPolling(time.Second).ShouldNot(Equal(before))
	kubectl("wait", "--for=condition=Ready", "node", "--all", "--timeout=90s")
	g.Eventually(func() int { return ask(l) }).WithTimeout(time.Minute).WithPolling(time.Second).Should(Equal(http.StatusOK))
}

func program(t *testing.T, l *Lab) string {
	t.Helper()
	store, err := parts.OpenStore()
	if err != nil {
		t.Fatal(err)
	}
	return store.Path(parts.Kubernetes(l.Version), "kubectl")
}

func kubectlOf(t *testing.T, l *Lab) func(args ...string) string {
	return func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), program(t, l), append([]string{"--kubeconfig", l.Kubeconfig()}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("kubectl %v: %v: %s", args, err, out)
		}
		return string(out)
	}
}

func bootID(kubectl func(args ...string) string) string {
	return kubectl("get", "node", "worker-1", "-o", "jsonpath={.status.nodeInfo.bootID}")
}

// ask returns the status of one answer of the application, 0 where there is none.
func ask(l *Lab) int {
	client := &http.Client{Timeout: 2 * time.Second}
	defer client.CloseIdleConnections()
	response, err := client.Get("http://" + l.ApplicationAddress())
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}
