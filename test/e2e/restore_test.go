package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/lab/host"
	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/invariant"
)

// TestEtcdRestore goes back a minor by the way that `refit plan --rollback` writes: it runs the printed commands, on the nodes that
// they are printed for, and nothing else. The snapshot is the one that the upgrade took: with several control planes by a Pod on another one
// before the first is touched, with one by its own upgrader, which is in the snapshot and comes back with it. Afterwards Refit begins nothing
// until it is asked to, and then upgrades the restored cluster.
func TestEtcdRestore(t *testing.T) {
	if !*all {
		t.Skip("takes two upgrades of two clusters; -all runs it")
	}
	t.Run("three control planes", func(t *testing.T) { testEtcdRestore(t, "restore", shape{controlPlanes: 3, workers: 1}) })
	t.Run("a lone control plane", func(t *testing.T) { testEtcdRestore(t, "restore-one", shape{controlPlanes: 1}) })
}

func testEtcdRestore(t *testing.T, name string, s shape) {
	c := bringUp(t, name, s)
	c.mark("before", "as it was")
	c.start()
	c.complete()
	c.mark("before", "changed since")
	c.mark("after", "written since")
	c.operatorsHost()
	c.ssh()

	way := c.refused(3, "plan", "--rollback", bed.From)
	c.t.Log("\n" + way)
	stages := printedStages(way)
	c.Expect(len(stages)).To(BeNumerically(">", 5), "there are commands in what is printed")
	for _, stage := range stages {
		c.carryOut(stage)
	}

	passed := t.Run("the cluster is back at the old version and at the time of the snapshot", func(t *testing.T) { c.as(t).restored() }) &&
		t.Run("Refit begins nothing by itself", func(t *testing.T) { c.as(t).heldAfterRestore() })
	if !passed {
		return
	}
	c.t.Log(c.refit("resume"))
	c.complete()
	c.ended(invariant.End{AllAt: bed.To})
	c.everywhereAt(bed.To)
	c.Expect(c.marked("before")).To(Equal("as it was"))
}

// printedStage is one stage of a way back, as it is printed.
type printedStage struct {
	title    string
	on       []string
	commands []string
}

var stageLine = regexp.MustCompile(`^\d+\. (.*)$`)

// printedStages reads the stages as a person does: a numbered line with the nodes at its end, and the commands, indented, below it.
func printedStages(text string) []printedStage {
	var out []printedStage
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := stageLine.FindStringSubmatch(line); m != nil {
			s := printedStage{title: m[1]}
			if at := strings.LastIndex(m[1], ", on "); at >= 0 {
				s.title, s.on = m[1][:at], strings.Split(m[1][at+len(", on "):], ", ")
			}
			out = append(out, s)
			continue
		}
		if command, is := strings.CutPrefix(line, "     "); is && len(out) > 0 {
			out[len(out)-1].commands = append(out[len(out)-1].commands, command)
		}
	}
	return out
}

// operator is where a person sits: the commands that belong to no node are typed there.
const operator = "cp-1"

// carryOut types the commands of a stage, on each of its nodes.
func (c *cluster) carryOut(s printedStage) {
	c.t.Helper()
	on := s.on
	if len(on) == 0 {
		on = []string{operator}
	}
	for _, node := range on {
		script := strings.Join(s.commands, "\n")
		if len(s.on) == 0 {
			script = "export KUBECONFIG=/etc/kubernetes/admin.conf\n" + script
		}
		began := time.Now()
		out, err := c.host(node).ExecWith(c.ctx, host.Execution{Command: []string{"bash", "-ec", "exec 2>&1\n" + script}, Deadline: stepDeadline})
		c.t.Logf("%s on %s, %s: %v\n%s\n%s", s.title, node, time.Since(began).Round(time.Second), err, strings.Join(s.commands, "\n"), out)
		c.Expect(err).NotTo(HaveOccurred(), "%s, on %s", s.title, node)
	}
}

// operatorsHost gives the operator's host what is typed there: refit.
func (c *cluster) operatorsHost() {
	program, err := os.Open(c.Program("refit"))
	c.Expect(err).NotTo(HaveOccurred())
	defer program.Close()
	c.Expect(c.host(operator).Copy(c.ctx, "/usr/local/bin/refit", 0o755, program)).To(Succeed())
}

// ssh lets root of each control plane in at the others, as operators have it.
func (c *cluster) ssh() {
	const serve = `mkdir -p -m 700 /root/.ssh /run/sshd
[ -e /root/.ssh/id_ed25519 ] || ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
echo 'StrictHostKeyChecking accept-new' >/root/.ssh/config
systemd-run --quiet --unit=operators-ssh /usr/sbin/sshd -D -e -o UsePAM=no
cat /root/.ssh/id_ed25519.pub`
	var keys strings.Builder
	for _, h := range c.Lab.ControlPlanes() {
		keys.WriteString(strings.TrimSpace(c.on(h.Name, serve)) + "\n")
	}
	for _, h := range c.Lab.ControlPlanes() {
		c.Expect(h.Copy(c.ctx, "/root/.ssh/authorized_keys", 0o600, strings.NewReader(keys.String()))).To(Succeed())
	}
}

// mark writes a ConfigMap that tells one time from another.
func (c *cluster) mark(name, text string) {
	c.t.Helper()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: map[string]string{"text": text}}
	err := c.Client.Create(c.ctx, m)
	if apierrors.IsAlreadyExists(err) {
		err = c.Client.Update(c.ctx, m)
	}
	c.Expect(err).NotTo(HaveOccurred())
}

// marked is the text of a mark, empty where there is none.
func (c *cluster) marked(name string) string {
	c.t.Helper()
	var m corev1.ConfigMap
	c.Eventually(func() error {
		return client.IgnoreNotFound(c.Client.Get(c.ctx, client.ObjectKey{Namespace: "default", Name: name}, &m))
	}).WithTimeout(soon).Should(Succeed())
	return m.Data["text"]
}

func (c *cluster) restored() {
	c.ended(invariant.End{AllAt: bed.From})
	for _, h := range c.Lab.ControlPlanes() {
		c.Expect(c.apiServerVersion(h)).To(Equal(bed.From), h.Name)
	}
	for _, h := range c.Lab.Hosts() {
		for _, program := range []string{"kubelet --version", "kubeadm version -o short", "kubectl version --client"} {
			c.Expect(c.on(h.Name, program)).To(ContainSubstring(bed.From), "%s on %s", program, h.Name)
		}
	}
	c.Expect(c.marked("before")).To(Equal("as it was"))
	c.Expect(c.marked("after")).To(BeEmpty())
	c.wholeEtcd()

	// etcd stays new; its version is that of the bundle, which was known when the snapshot was taken.
	var to v1alpha1.KubernetesVersion
	c.Expect(c.Client.Get(c.ctx, client.ObjectKey{Name: bed.To}, &to)).To(Succeed())
	c.controlPlanesAt(bed.From, to.Component("etcd"))
	c.podsRun("kube-system")
	c.mark("later", "the cluster takes what is written")
}

// apiServerVersion asks the API server of one control plane.
func (c *cluster) apiServerVersion(h *host.Host) string {
	c.t.Helper()
	out, err := h.Exec(c.ctx, "curl", "-sSk", "--max-time", "10", fmt.Sprintf("https://%s:6443/version", h.Address))
	c.Expect(err).NotTo(HaveOccurred())
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	c.Expect(json.Unmarshal([]byte(out), &version)).To(Succeed(), out)
	return version.GitVersion
}

// wholeEtcd: every member votes, is healthy, and has the same data at the same revision.
func (c *cluster) wholeEtcd() {
	c.t.Helper()
	c.etcdHealthy(bed.To)
	planes := c.Lab.ControlPlanes()
	out, err := c.etcdctl(planes[0], bed.To, "member", "list", "-w", "json")
	c.Expect(err).NotTo(HaveOccurred(), out)
	var members struct {
		Members []struct {
			Name      string `json:"name"`
			IsLearner bool   `json:"isLearner"`
		} `json:"members"`
	}
	c.Expect(json.Unmarshal([]byte(out), &members)).To(Succeed(), out)
	var names, want []string
	for _, h := range planes {
		want = append(want, h.Name)
	}
	for _, m := range members.Members {
		c.Expect(m.IsLearner).To(BeFalse(), m.Name)
		names = append(names, m.Name)
	}
	c.Expect(names).To(ConsistOf(want))
	c.Eventually(func() (map[int64]bool, error) { return c.hashes(planes) }).WithTimeout(soon).WithPolling(time.Second).
		Should(HaveLen(1), "the members have the same data")
}

// hashes are those of the members' data at one revision, which is the first member's.
func (c *cluster) hashes(planes []*host.Host) (map[int64]bool, error) {
	all, revision := map[int64]bool{}, []string{}
	for _, h := range planes {
		out, err := c.etcdctl(h, bed.To, append([]string{"endpoint", "hashkv", "-w", "json"}, revision...)...)
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
		var answers []struct {
			HashKV struct {
				Header struct {
					Revision int64 `json:"revision"`
				} `json:"header"`
				Hash int64 `json:"hash"`
			} `json:"HashKV"`
		}
		if err := json.Unmarshal([]byte(out), &answers); err != nil || len(answers) != 1 {
			return nil, fmt.Errorf("etcdctl endpoint hashkv said %s", out)
		}
		all[answers[0].HashKV.Hash] = true
		if len(revision) == 0 {
			revision = []string{"--rev", fmt.Sprint(answers[0].HashKV.Header.Revision)}
		}
	}
	return all, nil
}

// podsRun waits until every Pod of a namespace is Ready.
func (c *cluster) podsRun(namespace string) {
	c.t.Helper()
	c.until("the Pods of "+namespace+" to be Ready", stepDeadline, func(ctx context.Context) (bool, string, error) {
		var pods corev1.PodList
		if err := c.Client.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
			return false, "", err
		}
		var not []string
		for _, p := range pods.Items {
			ready := false
			for _, condition := range p.Status.Conditions {
				ready = ready || condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
			}
			if !ready || p.DeletionTimestamp != nil {
				not = append(not, p.Name)
			}
		}
		return len(not) == 0 && len(pods.Items) > 0, fmt.Sprint("not Ready: ", not), nil
	})
}

// heldAfterRestore: a manager leads, has ended the upgrade that the snapshot is of as aborted, and starts nothing.
func (c *cluster) heldAfterRestore() {
	c.untilState(v1alpha1.StateUpgradeAborted)
	c.t.Log("\n" + c.refit("status", "-o", "wide"))
	c.t.Log("\n" + c.refit("nodes", "-o", "wide"))
	c.Consistently(func() ([]string, error) {
		var out []string
		var pods corev1.PodList
		if err := c.Client.List(c.ctx, &pods, client.InNamespace(v1alpha1.Namespace), client.MatchingLabels{"app.kubernetes.io/name": "refit-upgrader"}); err != nil {
			return nil, err
		}
		for _, p := range pods.Items {
			out = append(out, "Pod "+p.Name)
		}
		for _, h := range c.Lab.Hosts() {
			u, err := c.claim(c.ctx, h.Name)
			if err != nil {
				return nil, err
			}
			if u != nil && !u.Status.Phase.Ended() {
				out = append(out, fmt.Sprintf("NodeUpgrade %s %s", u.Name, u.Status.Phase))
			}
		}
		return out, nil
	}).WithTimeout(2*heldFor).WithPolling(time.Second).Should(BeEmpty(), "nothing is at work")
	c.ended(invariant.End{AllAt: bed.From})
	c.Expect(c.Client.Get(c.ctx, client.ObjectKey{Name: bed.To}, &v1alpha1.KubernetesVersion{})).To(Succeed())
}
