package nodeupgrade

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
)

func TestTheUpgraderPod(t *testing.T) {
	g := NewWithT(t)
	o := observed()
	o.Upgrade.Labels = map[string]string{v1alpha1.LabelUpgrade: "u"}
	create, ok := Decide(o, DefaultLimits()).Action.(CreatePod)
	g.Expect(ok).To(BeTrue())
	pod, err := buildPod(o.Upgrade, create.Role, create.Spec)
	g.Expect(err).NotTo(HaveOccurred())

	g.Expect(pod.Spec.NodeName).To(Equal("worker-0"), "no scheduler is asked: the node is cordoned in the course of it")
	g.Expect(pod.Spec.Tolerations).To(Equal([]corev1.Toleration{{Operator: corev1.TolerationOpExists}}))
	g.Expect(pod.Spec.RestartPolicy).To(Equal(corev1.RestartPolicyNever))
	g.Expect(pod.Spec.ServiceAccountName).To(Equal("refit-upgrader"))
	g.Expect(metav1.IsControlledBy(pod, o.Upgrade)).To(BeTrue())
	g.Expect(pod.Labels).To(HaveKeyWithValue(v1alpha1.LabelUpgrade, "u"))
	g.Expect(pod.Labels).To(HaveKeyWithValue(v1alpha1.LabelNode, "worker-0"))

	steps := spec.Steps(v1alpha1.NodeTypeWorker)
	g.Expect(pod.Spec.InitContainers).To(HaveLen(len(steps)))
	for i, c := range pod.Spec.InitContainers {
		g.Expect(c.Name).To(Equal(string(steps[i])))
		g.Expect(c.Command).To(Equal([]string{"/refit-node", "step", string(steps[i])}))
		g.Expect(c.Image).To(Equal(image))
		g.Expect(*c.SecurityContext.Privileged).To(BeTrue())
	}
	g.Expect(pod.Spec.Containers[0].Command).To(Equal([]string{"/refit-node", "report"}))

	stager, err := buildPod(o.Upgrade, RoleStager, create.Spec)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(stager.Spec.InitContainers).To(HaveLen(len(spec.StagingSteps())), "the stager changes nothing on the node")
}

func TestARetryTakesTheBundleOfNow(t *testing.T) {
	g := NewWithT(t)
	const repaired = "refit.dev/bundle@sha256:1111111111111111111111111111111111111111111111111111111111111111"
	again := observed(upgradeSpec(retry), phase(v1alpha1.NodePending), status(func(s *v1alpha1.NodeUpgradeStatus) { s.Retried = 1 }),
		func(o *Observation) { o.Version.Spec.Image = repaired })
	create, ok := Decide(again, DefaultLimits()).Action.(CreatePod)
	g.Expect(ok).To(BeTrue())
	pod, err := buildPod(again.Upgrade, create.Role, create.Spec)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pod.Spec.InitContainers[0].Image).To(Equal(repaired))
}

func TestLongNamesOfNodesStayDifferent(t *testing.T) {
	g := NewWithT(t)
	a, b := strings.Repeat("n", 251)+"a", strings.Repeat("n", 251)+"b"
	g.Expect(len(PodName(a, RoleUpgrader))).To(BeNumerically("<=", 253))
	g.Expect(PodName(a, RoleUpgrader)).NotTo(Equal(PodName(b, RoleUpgrader)))
	g.Expect(len(LabelValue(a))).To(BeNumerically("<=", 63))
	g.Expect(LabelValue("worker-0")).To(Equal("worker-0"))
}
