package e2e

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/invariant"
)

// Fault 1: every manager is killed each time that a step of one node begins. What is recorded is enough: nothing is started or
// done twice.
func testManagerKilled(t *testing.T) {
	s := shape{controlPlanes: 1, workers: 2}
	c := bringUp(t, "manager", s)
	_, held := c.watch(s)
	pods := c.countPods("worker-1")
	c.start()
	kills := 0
	for _, step := range spec.Steps(v1alpha1.NodeTypeWorker) {
		c.begun(c.host("worker-1"), step)
		kills += c.killManagers()
	}
	c.complete()
	held()
	c.ended(invariant.End{AllAt: bed.To})
	c.everywhereAt(bed.To)
	c.Expect(kills).To(BeNumerically(">=", len(spec.Steps(v1alpha1.NodeTypeWorker))))
	seen := pods()
	c.t.Logf("managers killed %d times; upgrader pods of worker-1: %v", kills, seen)
	c.Expect(len(seen)).To(BeNumerically("<=", 2), "one pod to stage and one to upgrade")
	c.onceEach("worker-1")
}

// killManagers kills the process of every manager, and deletes the pods so that the kubelet does not make the next wait.
func (c *cluster) killManagers() int {
	c.t.Helper()
	const kill = `for id in $(ctr -n k8s.io containers ls -q 'labels."io.kubernetes.container.name"==manager,labels."io.kubernetes.pod.namespace"==refit-system'); do
ctr -n k8s.io tasks kill -s SIGKILL $id >/dev/null 2>&1 && echo $id; done; true`
	killed := 0
	for _, h := range c.Lab.Hosts() {
		killed += len(strings.Fields(c.on(h.Name, kill)))
	}
	// Failures here are fine: the API server of the only control plane may be away.
	if err := c.Client.DeleteAllOf(c.ctx, &corev1.Pod{}, client.InNamespace(v1alpha1.Namespace),
		client.MatchingLabels{"app.kubernetes.io/name": "refit"}, client.GracePeriodSeconds(0)); err != nil {
		c.t.Logf("delete the managers' pods: %v", err)
	}
	return killed
}

// countPods collects the upgrader pods of a node that were ever there; the returned function ends that.
func (c *cluster) countPods(node string) func() map[types.UID]string {
	ctx, stop := context.WithCancel(c.ctx)
	seen := map[types.UID]string{}
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			var pods corev1.PodList
			if c.Client.List(ctx, &pods, client.InNamespace(v1alpha1.Namespace), client.MatchingLabels{v1alpha1.LabelNode: node}) == nil {
				for _, p := range pods.Items {
					seen[p.UID] = p.Name
				}
			}
			pause(ctx, every)
		}
	})
	return func() map[types.UID]string {
		stop()
		done.Wait()
		return seen
	}
}

// onceEach checks, in the status and in the journal on the node, that no step was begun or done twice. The staging steps are
// looked at again by the second pod, which finds them done.
func (c *cluster) onceEach(node string) {
	c.t.Helper()
	u, err := c.claim(c.ctx, node)
	c.Expect(err).NotTo(HaveOccurred())
	c.Expect(u.Status.Attempts).To(BeZero())
	c.Expect(u.Status.Interruptions).To(BeZero(), "the manager's end interrupts no upgrader")
	for _, s := range u.Status.Steps {
		c.Expect(s.State).To(Equal(v1alpha1.StepSucceeded), string(s.Name))
	}
	started := map[string]int{}
	for line := range strings.Lines(c.on(node, "cat "+spec.JournalPath(string(u.UID)))) {
		var record struct{ Step, Event string }
		c.Expect(json.Unmarshal([]byte(line), &record)).To(Succeed(), line)
		if record.Event == "started" {
			started[record.Step]++
		}
	}
	for step, n := range started {
		if step != string(v1alpha1.StepPreflight) {
			c.Expect(n).To(Equal(1), "starts of %s", step)
		}
	}
}
