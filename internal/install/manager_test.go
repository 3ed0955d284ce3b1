package install

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/internal/controller/nodeupgrade"
)

func render(g *WithT, o Options) []*unstructured.Unstructured {
	o.Image, o.Replicas = "m:1", 2
	objects, err := Render(o)
	g.Expect(err).NotTo(HaveOccurred())
	return objects
}

// find reads the object of a kind into a typed one.
func find(g *WithT, objects []*unstructured.Unstructured, kind string, into any) {
	for _, o := range objects {
		if o.GetKind() == kind {
			g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into)).To(Succeed())
			return
		}
	}
	g.Expect(kind).To(BeEmpty(), "it is not among the manifests")
}

// What an update or a drain waits for must come, on one, two or three control planes alike.
func TestAnUpdateOfTheManagerNeedsNoSpareNode(t *testing.T) {
	g := NewWithT(t)
	objects := render(g, Options{})
	var d appsv1.Deployment
	find(g, objects, "Deployment", &d)
	g.Expect(d.Spec.Strategy.RollingUpdate).NotTo(BeNil())
	g.Expect(d.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue()).To(Equal(1), "an old manager makes room for a new one")
	g.Expect(d.Spec.Strategy.RollingUpdate.MaxSurge.IntValue()).To(BeZero(), "there need be no room for a third")
	g.Expect(d.Spec.Template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution).To(BeEmpty(), "two share a single control plane")
	var budget policyv1.PodDisruptionBudget
	find(g, objects, "PodDisruptionBudget", &budget)
	g.Expect(budget.Spec.MaxUnavailable.IntValue()).To(Equal(1), "a drain may always take one")
	g.Expect(budget.Spec.MinAvailable).To(BeNil())
}

func TestTheManagerComesBackToASingleControlPlaneAndAvoidsOneThatIsUpgraded(t *testing.T) {
	g := NewWithT(t)
	var d appsv1.Deployment
	find(g, render(g, Options{}), "Deployment", &d)
	pod := d.Spec.Template.Spec
	g.Expect(pod.Tolerations).To(ContainElement(corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}))
	weights := map[string]int32{}
	for _, term := range pod.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		g.Expect(term.PodAffinityTerm.TopologyKey).To(Equal(corev1.LabelHostname))
		if term.PodAffinityTerm.LabelSelector.MatchLabels[nodeupgrade.LabelRole] == string(nodeupgrade.RoleUpgrader) {
			weights["upgrader"] = term.Weight
		} else {
			weights["manager"] = term.Weight
		}
	}
	g.Expect(weights["upgrader"]).To(BeNumerically(">", weights["manager"]), "with two control planes, both managers share the one that is in service")
	g.Expect(weights["manager"]).To(BeNumerically(">", 0))
}

// kubeadms is a cluster of which kubeadm's configuration is known, and that keeps what is applied.
type kubeadms struct {
	client.Client
	config string
	// openShift says that the cluster is OpenShift.
	openShift bool
	applied   []*unstructured.Unstructured
}

func (c *kubeadms) RESTMapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	if c.openShift {
		m.Add(configv1.GroupVersion.WithKind("ClusterVersion"), meta.RESTScopeRoot)
	}
	return m
}

func (c *kubeadms) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	o.(*corev1.ConfigMap).Data = map[string]string{"ClusterConfiguration": c.config}
	return nil
}

func (c *kubeadms) Apply(_ context.Context, o runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	applied := &unstructured.Unstructured{}
	c.applied = append(c.applied, applied)
	return applied.UnmarshalJSON(data)
}

func TestTheManagerStartsWhereEtcdIsOutsideTheCluster(t *testing.T) {
	for _, tt := range []struct {
		name, config string
		external     bool
		volumes      int
	}{
		{"etcd of the cluster's own", "etcd: {local: {dataDir: /var/lib/etcd}}", false, 4},
		{"etcd outside the cluster", "etcd: {external: {endpoints: [\"https://10.0.0.9:2379\"]}}", true, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			manager := func(o Options) []*unstructured.Unstructured {
				return slices.DeleteFunc(render(g, o), func(o *unstructured.Unstructured) bool { return o.GetKind() != "Deployment" })
			}
			c := &kubeadms{config: tt.config}
			g.Expect(Apply(t.Context(), c, manager(Options{}), func(string) {})).To(Succeed())
			g.Expect(cmp.Diff(manager(Options{ExternalEtcd: tt.external}), c.applied)).To(BeEmpty(), "the chart leaves out the same as `refit install`")
			var d appsv1.Deployment
			find(g, c.applied, "Deployment", &d)
			g.Expect(d.Spec.Template.Spec.Volumes).To(HaveLen(tt.volumes))
			g.Expect(d.Spec.Template.Spec.Containers[0].VolumeMounts).To(HaveLen(tt.volumes))
		})
	}
}

func TestOnOpenShiftTheManagerRunsAsNoParticularUser(t *testing.T) {
	g := NewWithT(t)
	c := &kubeadms{openShift: true}
	objects := slices.DeleteFunc(render(g, Options{}), func(o *unstructured.Unstructured) bool { return o.GetKind() != "Deployment" })
	g.Expect(Apply(t.Context(), c, objects, func(string) {})).To(Succeed())
	var d appsv1.Deployment
	find(g, c.applied, "Deployment", &d)
	pod := d.Spec.Template.Spec
	g.Expect(pod.Containers[0].SecurityContext.RunAsUser).To(BeNil())
	g.Expect(pod.Tolerations).To(ContainElement(corev1.Toleration{Key: masterTaint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}))
	g.Expect(pod.Volumes).To(HaveLen(1), "where Prometheus is")
	g.Expect(c.applied[len(c.applied)-1].GetName()).To(Equal("refit-manager-monitoring"))
}
