package e2e

import (
	"context"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/prometheus/realprometheus"
	"refit.dev/refit/lab/parts"
	"refit.dev/refit/test/bed"
	"refit.dev/refit/test/invariant"
	"refit.dev/refit/test/receive"
)

const (
	// slots is how far the windows of the test are apart, pinned how long before each the version is pinned.
	slots  = 2 * time.Minute
	pinned = time.Minute
	// token is what the test's Prometheus wants to see.
	token = "of-the-test"
)

const appRules = `groups:
- name: test
  interval: 1s
  rules:
  - {alert: AppBroken, expr: 'app_broken == 1', labels: {severity: critical, namespace: shop}}
`

// A cluster upgrades itself in its maintenance window: the first slot is held by a suspension window, the second waits for a critical
// alert to end, hooks tell a chat and send a mail, and nobody types anything.
func TestMaintenanceWindow(t *testing.T) {
	s := shape{controlPlanes: 1, workers: 1}
	c := bringUp(t, "window", s)
	_, held := c.watch(s)
	w := c.prepareWindow()
	first := time.Now().Truncate(slots).Add(slots)
	if time.Until(first) < pinned+30*time.Second {
		first = first.Add(slots)
	}
	c.suspendUntil(first)
	c.configure()
	c.t.Log("\n" + c.refit("schedule"))
	c.firstSlotIsHeld(first)

	job := c.untilJob(first.Add(slots))
	c.t.Log("\n" + c.refit("schedule"))
	c.until("the alert to hold the job", 2*slots, func(ctx context.Context) (bool, string, error) {
		err := c.Client.Get(ctx, client.ObjectKeyFromObject(job), job)
		return strings.Contains(job.Status.Waiting, "AppBroken in shop"), job.Status.Waiting, err
	})
	var upgrades v1alpha1.KubernetesUpgradeList
	c.Expect(c.Client.List(c.ctx, &upgrades)).To(Succeed())
	c.Expect(upgrades.Items).To(BeEmpty(), "nothing was changed yet")
	c.t.Log("\n" + c.refit("jobs", "why", job.Name))
	w.app.Set("app_broken 0\n")
	c.until("the job to end", upgradeDeadline, func(ctx context.Context) (bool, string, error) {
		err := c.Client.Get(ctx, client.ObjectKeyFromObject(job), job)
		return job.Finished(), fmt.Sprintf("%s: %s", job.Status.Phase, job.Status.Waiting), err
	})
	c.t.Log("\n" + c.refit("jobs") + "\n" + c.refit("jobs", "why", job.Name))
	c.Expect(job.Outcome().Reason).To(Equal(v1beta1.ReasonSucceeded), job.Outcome().Message)
	c.Expect(job.Is(v1beta1.ConditionPreHealthCheckDone)).To(BeTrue())
	c.Expect(job.Is(v1beta1.ConditionPostHealthCheckDone)).To(BeTrue())
	held()
	c.ended(invariant.End{AllAt: bed.To})
	c.everywhereAt(bed.To)
	c.told(w, job)
}

// window is what the cluster's maintenance talks to.
type window struct {
	app        *realprometheus.Target
	chat, mail *receive.Box
}

// prepareWindow starts Prometheus, behind a server that wants a token, a chat and a mail server, and tells the cluster of them.
func (c *cluster) prepareWindow() *window {
	store, err := parts.OpenStore()
	c.Expect(err).NotTo(HaveOccurred())
	c.Expect(store.Build(c.ctx, c.t.Output(), parts.Prometheus())).To(Succeed())
	c.t.Setenv("REFIT_PROMETHEUS", store.Path(parts.Prometheus(), "prometheus"))
	c.Expect(c.Lab.PublishCurl(c.ctx, c.t.Output())).To(Succeed())
	gateway, err := c.Lab.Gateway()
	c.Expect(err).NotTo(HaveOccurred())
	w := &window{app: realprometheus.NewTarget(c.t, "app_broken 1\n")}
	w.chat, err = receive.Chat(gateway.String())
	c.Expect(err).NotTo(HaveOccurred())
	c.t.Cleanup(func() { _ = w.chat.Close() })
	w.mail, err = receive.Mail(gateway.String())
	c.Expect(err).NotTo(HaveOccurred())
	c.t.Cleanup(func() { _ = w.mail.Close() })
	front := c.front(gateway.String(), realprometheus.Start(c.t, appRules, w.app.URL()).URL)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	for name, data := range map[string]map[string]string{
		"refit-prometheus": {"url": front.URL, "ca.crt": string(authority), "token": token, "server-name": "example.com"},
		"chat-webhook":     {"url": "http://" + w.chat.Address + "/hooks/test"},
		"mail":             {"server": "smtp://" + w.mail.Address, "from": "refit@example.com", "to": "oncall@example.com"},
	} {
		c.Expect(c.Client.Create(c.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.Namespace, Name: name}, StringData: data})).To(Succeed())
	}
	kubectl := store.Path(parts.Kubernetes(bed.From), "kubectl")
	for _, file := range []string{"hook-chat.yaml", "hook-mail.yaml"} {
		c.Expect(c.Kubectl(c.ctx, kubectl, "apply", "-f", c.File("docs", "examples", "windows", file))).To(Succeed())
	}
	return w
}

// front is a server with a certificate of its own authority that hands on to Prometheus who has the token.
func (c *cluster) front(at, prometheus string) *httptest.Server {
	behind, err := url.Parse(prometheus)
	c.Expect(err).NotTo(HaveOccurred())
	proxy := httputil.NewSingleHostReverseProxy(behind)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(out, "no token", http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(out, r)
	}))
	listener, err := net.Listen("tcp", net.JoinHostPort(at, "0"))
	c.Expect(err).NotTo(HaveOccurred())
	c.Expect(server.Listener.Close()).To(Succeed())
	server.Listener = listener
	server.StartTLS()
	c.t.Cleanup(server.Close)
	return server
}

// read reads an example of the documentation.
func (c *cluster) example(file string, into any) {
	data, err := os.ReadFile(c.File("docs", "examples", "windows", file))
	c.Expect(err).NotTo(HaveOccurred())
	c.Expect(yaml.UnmarshalStrict(data, into)).To(Succeed(), file)
}

func (c *cluster) suspendUntil(end time.Time) {
	var s v1beta1.UpgradeSuspensionWindow
	c.example("suspension.yaml", &s)
	s.Spec.Start, s.Spec.End = metav1.Now(), metav1.NewTime(end)
	c.Expect(c.Client.Create(c.ctx, &s)).To(Succeed())
}

// configure makes the documentation's UpgradeConfig fire in the next minutes.
func (c *cluster) configure() {
	var u v1beta1.UpgradeConfig
	c.example("upgrade-config.yaml", &u)
	u.Spec.Schedule.Cron, u.Spec.Schedule.ISOWeek = fmt.Sprintf("*/%d * * * *", int(slots.Minutes())), ""
	u.Spec.PinVersionWindow = &metav1.Duration{Duration: pinned}
	for _, check := range []*v1beta1.UpgradeJobHealthCheck{&u.Spec.JobTemplate.Spec.Config.PreUpgradeHealthChecks, &u.Spec.JobTemplate.Spec.Config.PostUpgradeHealthChecks} {
		check.CustomQueries = []v1beta1.CustomQuery{{Query: "app_broken != 0"}}
	}
	c.Expect(c.Client.Create(c.ctx, &u)).To(Succeed())
}

func (c *cluster) firstSlotIsHeld(slot time.Time) {
	c.until("the first slot to be dealt with", 3*slots, func(ctx context.Context) (bool, string, error) {
		var u v1beta1.UpgradeConfig
		err := c.Client.Get(ctx, client.ObjectKey{Namespace: v1alpha1.Namespace, Name: "cluster-upgrade"}, &u)
		last, said := u.Status.LastScheduledUpgrade, ""
		if scheduled := meta.FindStatusCondition(u.Status.Conditions, v1beta1.ConditionScheduled); scheduled != nil {
			said = scheduled.Message
		}
		return last != nil && last.Time.Equal(slot), said, err
	})
	var events eventsv1.EventList
	c.Expect(c.Client.List(c.ctx, &events)).To(Succeed())
	c.Expect(events.Items).To(ContainElement(And(HaveField("Reason", v1beta1.ReasonSuspendedWindow), HaveField("Note", ContainSubstring("year end")))))
	var jobs v1beta1.UpgradeJobList
	c.Expect(c.Client.List(c.ctx, &jobs)).To(Succeed())
	c.Expect(jobs.Items).To(BeEmpty(), "the suspension window held the slot")
}

// untilJob waits for the job of a slot, and has no other one follow it.
func (c *cluster) untilJob(slot time.Time) *v1beta1.UpgradeJob {
	var job *v1beta1.UpgradeJob
	c.until("the job of the second slot", 2*slots, func(ctx context.Context) (bool, string, error) {
		var jobs v1beta1.UpgradeJobList
		if err := c.Client.List(ctx, &jobs); err != nil || len(jobs.Items) == 0 {
			return false, "no job yet", err
		}
		job = &jobs.Items[0]
		return true, job.Name, nil
	})
	c.Expect(job.Spec.StartAfter.Time.Equal(slot)).To(BeTrue(), "%s starts at %s", job.Name, job.Spec.StartAfter)
	c.Expect(job.Version()).To(Equal(bed.To))
	var u v1beta1.UpgradeConfig
	c.Expect(c.Client.Get(c.ctx, client.ObjectKey{Namespace: v1alpha1.Namespace, Name: "cluster-upgrade"}, &u)).To(Succeed())
	patch := client.MergeFrom(u.DeepCopy())
	u.Spec.Schedule.Suspend = true
	c.Expect(c.Client.Patch(c.ctx, &u, patch)).To(Succeed())
	return job
}

// told checks what the hooks told people, and that each ran once.
func (c *cluster) told(w *window, job *v1beta1.UpgradeJob) {
	c.Eventually(w.mail.Messages, soon, time.Second).Should(HaveLen(1))
	c.Eventually(w.chat.Messages, soon, time.Second).Should(HaveLen(3))
	c.t.Logf("chat:\n%s\nmail:\n%s", strings.Join(w.chat.Messages(), "\n"), w.mail.Messages()[0])
	for i, says := range []string{"upgrades the cluster to " + bed.To + "; it starts at", "begins", "succeeded: The cluster runs " + bed.To} {
		c.Expect(w.chat.Messages()[i]).To(HavePrefix(`{"text": "UpgradeJob ` + job.Name + ` `))
		c.Expect(w.chat.Messages()[i]).To(ContainSubstring(says))
	}
	c.Expect(w.mail.Messages()[0]).To(And(ContainSubstring(`Subject: Cluster upgrade: "Succeeded"`), ContainSubstring("The cluster runs "+bed.To)))
	c.Eventually(func(g Gomega) {
		var runs batchv1.JobList
		g.Expect(c.Client.List(c.ctx, &runs, client.InNamespace(v1alpha1.Namespace))).To(Succeed())
		g.Expect(runs.Items).To(HaveLen(4))
		for i := range runs.Items {
			g.Expect(runs.Items[i].Finalizers).NotTo(ContainElement(v1beta1.FinalizerHookJob), "its result is on record")
		}
	}, soon, time.Second).Should(Succeed())
}
