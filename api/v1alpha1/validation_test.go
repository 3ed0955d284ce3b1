package v1alpha1_test

import (
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m)) }

const digest = "@sha256:0000000000000000000000000000000000000000000000000000000000000000"

func version(name string, set func(*v1alpha1.KubernetesVersionSpec)) client.Object {
	v := &v1alpha1.KubernetesVersion{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.KubernetesVersionSpec{Version: name, Image: "refit.dev/bundle" + digest}}
	if set != nil {
		set(&v.Spec)
	}
	return v
}

func upgrade(name string, set func(*v1alpha1.KubernetesUpgradeSpec)) client.Object {
	u := &v1alpha1.KubernetesUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.KubernetesUpgradeSpec{ToVersion: "v1.36.3"}}
	set(&u.Spec)
	return u
}

func plan(maxUnavailable intstr.IntOrString) client.Object {
	return &v1alpha1.RolloutPlan{ObjectMeta: metav1.ObjectMeta{GenerateName: "plan-"}, Spec: v1alpha1.RolloutPlanSpec{MaxUnavailable: &maxUnavailable}}
}

func nodeUpgrade(set func(*v1alpha1.NodeUpgradeSpec)) client.Object {
	nu := &v1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{GenerateName: "node-", Namespace: "default"}, Spec: v1alpha1.NodeUpgradeSpec{
		Machine: corev1.ObjectReference{Kind: "Node", Name: "worker-0"}, KubernetesVersion: "v1.36.3", NodeType: v1alpha1.NodeTypeWorker}}
	set(&nu.Spec)
	return nu
}

func TestWhatTheAPIServerTakesAndRefuses(t *testing.T) {
	anything := func(*v1alpha1.KubernetesUpgradeSpec) {}
	for _, tt := range []struct {
		name   string
		object client.Object
		// refused is part of the message; empty where the object is taken.
		refused string
	}{
		{"a version as a bundle describes it", version("v1.36.3", func(s *v1alpha1.KubernetesVersionSpec) {
			s.UpgradeFrom, s.DowngradeTo = []string{"v1.35", "v1.36.1"}, []string{"v1.36.1"}
		}), ""},
		{"a version under another name", version("v1.36.2", func(s *v1alpha1.KubernetesVersionSpec) { s.Version = "v1.36.3" }), "metadata.name must equal spec.version"},
		{"a version that is none", version("one.two", nil), "should match"},
		{"a version without its v", version("1.36.3", nil), "should match"},
		{"an image by tag", version("v1.36.4", func(s *v1alpha1.KubernetesVersionSpec) { s.Image = "refit.dev/bundle:v1.36.4" }), "spec.image"},
		{"an upgrade from itself", version("v1.36.5", func(s *v1alpha1.KubernetesVersionSpec) { s.UpgradeFrom = []string{"v1.36.5"} }), "must not name spec.version itself"},
		{"a downgrade by a minor", version("v1.36.6", func(s *v1alpha1.KubernetesVersionSpec) { s.DowngradeTo = []string{"v1.35.4"} }), "does not support going back a minor"},
		{"a downgrade by a patch", version("v1.36.7", func(s *v1alpha1.KubernetesVersionSpec) { s.DowngradeTo = []string{"v1.36.1"} }), ""},

		{"an upgrade", upgrade("u1", anything), ""},
		{"an upgrade with a name too long for a label", upgrade(strings.Repeat("a", 64), anything), "63 characters"},
		{"an upgrade in a mode that is none", upgrade("u2", func(s *v1alpha1.KubernetesUpgradeSpec) { s.Mode = "Sometimes" }), "spec.mode"},
		{"an upgrade to what is no version", upgrade("u3", func(s *v1alpha1.KubernetesUpgradeSpec) { s.ToVersion = "latest" }), "spec.toVersion"},
		{"a request for a control plane by name", upgrade("u4", func(s *v1alpha1.KubernetesUpgradeSpec) {
			s.Requests = []v1alpha1.StepRequest{{Step: v1alpha1.RequestControlPlane, Node: "cp-0"}, {Step: v1alpha1.RequestNetworking}}
		}), ""},
		{"a request for a control plane without a name", upgrade("u5", func(s *v1alpha1.KubernetesUpgradeSpec) {
			s.Requests = []v1alpha1.StepRequest{{Step: v1alpha1.RequestControlPlane}}
		}), "node is required"},
		{"a request for networking on a node", upgrade("u6", func(s *v1alpha1.KubernetesUpgradeSpec) {
			s.Requests = []v1alpha1.StepRequest{{Step: v1alpha1.RequestNetworking, Node: "cp-0"}}
		}), "not allowed for networking"},
		{"a gate excluded twice", upgrade("u7", func(s *v1alpha1.KubernetesUpgradeSpec) { s.ExcludedGates = []string{"etcd", "etcd"} }), "Duplicate"},

		{"one worker at a time", plan(intstr.FromInt32(1)), ""},
		{"a tenth of the workers", plan(intstr.FromString("10%")), ""},
		{"all of the workers", plan(intstr.FromString("100%")), ""},
		{"no worker ever", plan(intstr.FromInt32(0)), "at least 1"},
		{"a percentage of none", plan(intstr.FromString("0%")), "percentage"},
		{"more than all", plan(intstr.FromString("101%")), "percentage"},
		{"a number as a word", plan(intstr.FromString("two")), "percentage"},

		{"a node's upgrade", nodeUpgrade(func(*v1alpha1.NodeUpgradeSpec) {}), ""},
		{"a role that is none", nodeUpgrade(func(s *v1alpha1.NodeUpgradeSpec) { s.NodeType = "Storage" }), "spec.nodeType"},
		{"a retry below zero", nodeUpgrade(func(s *v1alpha1.NodeUpgradeSpec) { s.Retry = -1 }), "spec.retry"},
		{"a drain that does something else", nodeUpgrade(func(s *v1alpha1.NodeUpgradeSpec) { s.Drain = &v1alpha1.DrainPolicy{OnTimeout: "Panic"} }), "spec.drain.onTimeout"},
		{"a grace period below zero", nodeUpgrade(func(s *v1alpha1.NodeUpgradeSpec) {
			s.Drain = &v1alpha1.DrainPolicy{GracePeriodSeconds: ptr.To[int64](-1)}
		}), "gracePeriodSeconds"},

		{"control planes without one", &v1alpha1.ControlPlaneUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "none", Namespace: "default"},
			Spec: v1alpha1.ControlPlaneUpgradeSpec{KubernetesVersion: "v1.36.3", MachinesRequireUpgrade: []corev1.ObjectReference{}}}, "machinesRequireUpgrade"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			err := testcluster.Start(t).Client.Create(t.Context(), tt.object)
			if tt.refused == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			g.Expect(err.Error()).To(ContainSubstring(tt.refused))
		})
	}
}

func TestWhatCannotBeChangedAfterwards(t *testing.T) {
	g := NewWithT(t)
	c := testcluster.Start(t).Client
	u := &v1alpha1.KubernetesUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "fixed"}, Spec: v1alpha1.KubernetesUpgradeSpec{ToVersion: "v1.36.3"}}
	g.Expect(c.Create(t.Context(), u)).To(Succeed())
	g.Expect(u.Spec.Mode).To(Equal(v1alpha1.ModeAutomatic), "the default")
	u.Spec.ToVersion = "v1.36.4"
	g.Expect(c.Update(t.Context(), u)).To(MatchError(ContainSubstring("abort this upgrade and start another")))

	nu := &v1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "fixed", Namespace: "default"}, Spec: v1alpha1.NodeUpgradeSpec{
		Machine: corev1.ObjectReference{Name: "worker-0"}, KubernetesVersion: "v1.36.3", NodeType: v1alpha1.NodeTypeWorker, Drain: &v1alpha1.DrainPolicy{}}}
	g.Expect(c.Create(t.Context(), nu)).To(Succeed())
	g.Expect(nu.Spec.Drain.Mode).To(Equal(v1alpha1.DrainAuto), "the default")
	g.Expect(nu.Spec.Drain.Timeout.Minutes()).To(Equal(10.0), "the default")
	nu.Spec.KubernetesVersion = "v1.36.4"
	g.Expect(c.Update(t.Context(), nu)).To(MatchError(ContainSubstring("delete this NodeUpgrade and create another")))
}

func TestANodeThatIsBeingUpgradedCannotBeHeld(t *testing.T) {
	g := NewWithT(t)
	c := testcluster.Start(t).Client
	nu := &v1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "held", Namespace: "default"}, Spec: v1alpha1.NodeUpgradeSpec{
		Machine: corev1.ObjectReference{Name: "worker-0"}, KubernetesVersion: "v1.36.3", NodeType: v1alpha1.NodeTypeWorker, Hold: true}}
	g.Expect(c.Create(t.Context(), nu)).To(Succeed())
	for _, phase := range []v1alpha1.NodeUpgradePhase{v1alpha1.NodeStaged, v1alpha1.NodeUpgrading, v1alpha1.NodeFailed} {
		for _, hold := range []bool{false, true} {
			nu.Spec.Hold = hold
			err := c.Update(t.Context(), nu)
			if phase == v1alpha1.NodeFailed && hold {
				g.Expect(err).To(MatchError(ContainSubstring("use spec.abort")), "it is Upgrading still")
				break
			}
			g.Expect(err).NotTo(HaveOccurred())
		}
		nu.Spec.Hold = false
		nu.Status.Phase = phase
		g.Expect(c.Status().Update(t.Context(), nu)).To(Succeed())
	}
	nu.Spec.Hold = true
	g.Expect(c.Update(t.Context(), nu)).To(Succeed(), "its upgrade has ended")
	nu.Status.Phase = v1alpha1.NodeUpgrading
	g.Expect(c.Status().Update(t.Context(), nu)).To(Succeed())
	nu.Status.Attempts = 1
	g.Expect(c.Status().Update(t.Context(), nu)).To(Succeed(), "one that is held and Upgrading, as older versions allowed, can be written still")
	nu.Spec.Abort = true
	g.Expect(c.Update(t.Context(), nu)).To(Succeed())
}
