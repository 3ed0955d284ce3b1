package manager

import (
	"slices"
	"strings"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/controller/nodeupgrade"
	"refit.dev/refit/internal/observe"
)

// cacheOptions keep in memory only what decisions rest on: of Pods those of control planes and of upgrades, of every object no
// more than a few fields. Thousands of nodes fit that way.
func cacheOptions(o Options, k *kept) cache.Options {
	own := map[string]cache.Config{o.Namespace: {}}
	controlPlane := labels.SelectorFromSet(labels.Set{observe.LabelTier: observe.TierControlPlane})
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		NewInformer:      k.newInformer,
		ByObject: map[client.Object]cache.ByObject{
			&v1alpha1.NodeUpgrade{}:         {Namespaces: own, Transform: trimClaim},
			&v1alpha1.ControlPlaneUpgrade{}: {Namespaces: own},
			&corev1.Pod{}: {
				Namespaces: map[string]cache.Config{o.Namespace: {}, metav1.NamespaceSystem: {LabelSelector: controlPlane}},
				Transform:  trimPod,
			},
			&corev1.Node{}: {Transform: trimNode},
			// Of all Jobs those that were made for hooks.
			&batchv1.Job{}: {Label: hookJobs()},
		},
	}
}

func hookJobs() labels.Selector {
	made, err := labels.NewRequirement(v1beta1.LabelJob, selection.Exists, nil)
	if err != nil { // the label is a constant
		return labels.Nothing()
	}
	return labels.NewSelector().Add(*made)
}

// trimNode drops what is large and never looked at.
func trimNode(o any) (any, error) {
	n, ok := o.(*corev1.Node)
	if !ok {
		return o, nil
	}
	n.ManagedFields = nil
	n.Annotations = keep(n.Annotations, v1alpha1.AnnotationCordonedBy)
	n.Labels = share(n.Labels, n.Name)
	n.Spec = corev1.NodeSpec{Unschedulable: n.Spec.Unschedulable, Taints: n.Spec.Taints}
	n.Status = corev1.NodeStatus{
		Conditions: slices.Clip(slices.DeleteFunc(n.Status.Conditions, healthy)),
		Addresses:  n.Status.Addresses,
		NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion:          one(n.Status.NodeInfo.KubeletVersion),
			ContainerRuntimeVersion: one(n.Status.NodeInfo.ContainerRuntimeVersion),
		},
	}
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		c.LastHeartbeatTime = metav1.Time{} // heartbeats would make every copy another one
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			c.Reason, c.Message = "", "" // what is well says the same on every node, and nobody reads it
		}
	}
	return n, nil
}

// healthy says that a condition tells nothing: the node is not short of anything. Ready always tells.
func healthy(c corev1.NodeCondition) bool {
	return c.Type != corev1.NodeReady && c.Status == corev1.ConditionFalse
}

// trimPod keeps where a Pod runs, its images and its status. Of an upgrader's Pod nobody asks for the images: every step's is the same.
func trimPod(o any) (any, error) {
	p, ok := o.(*corev1.Pod)
	if !ok {
		return o, nil
	}
	p.ManagedFields = nil
	spec := corev1.PodSpec{NodeName: p.Spec.NodeName}
	if p.Namespace == metav1.NamespaceSystem { // its labels and annotations say what it runs, and where members of a control plane answer
		for _, c := range p.Spec.Containers {
			spec.Containers = append(spec.Containers, corev1.Container{Name: c.Name, Image: c.Image})
		}
		p.Labels = share(p.Labels, spec.NodeName)
	} else { // those of an upgrade's Pod are for people
		p.Labels, p.Annotations = nil, nil
	}
	p.Spec = spec
	shareOwners(p.OwnerReferences)
	s := p.Status
	p.Status = corev1.PodStatus{Phase: s.Phase, Reason: s.Reason, Message: s.Message, Conditions: s.Conditions,
		InitContainerStatuses: trimContainers(s.InitContainerStatuses), ContainerStatuses: trimContainers(s.ContainerStatuses)}
	nodeupgrade.CompactPod(p)
	return p, nil
}

func trimContainers(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	out := make([]corev1.ContainerStatus, 0, len(all))
	for _, c := range all {
		if t := c.State.Terminated; t != nil {
			t.ContainerID, t.Reason = "", one(t.Reason)
		}
		out = append(out, corev1.ContainerStatus{Name: one(c.Name), Image: one(c.Image), State: c.State})
	}
	return out
}

// trimClaim keeps texts once that thousands of claims have. Of those that are not completed it drops nothing, as they are written back whole.
func trimClaim(o any) (any, error) {
	nu, ok := o.(*v1alpha1.NodeUpgrade)
	if !ok {
		return o, nil
	}
	nu.ManagedFields = nil
	nodeupgrade.CompactClaim(nu)
	m := &nu.Spec.Machine
	m.APIVersion, m.Kind = one(m.APIVersion), one(m.Kind)
	nu.Labels, nu.Annotations = share(nu.Labels, m.Name), annotated(nu.Annotations)
	shareOwners(nu.OwnerReferences)
	for i := range nu.OwnerReferences { // thousands have the same
		r := &nu.OwnerReferences[i]
		r.Name, r.UID = one(r.Name), types.UID(one(string(r.UID)))
	}
	if nu.Status.NodeUID == string(m.UID) {
		nu.Status.NodeUID = string(m.UID) // as one text
	}
	nu.Spec.KubernetesVersion, nu.Status.FromVersion = one(nu.Spec.KubernetesVersion), one(nu.Status.FromVersion)
	for i := range nu.Status.Steps {
		step := &nu.Status.Steps[i]
		step.Name, step.State = v1alpha1.StepName(one(string(step.Name))), v1alpha1.StepState(one(string(step.State)))
		if i > 0 && step.StartedAt.Equal(nu.Status.Steps[i-1].FinishedAt) { // one begins as the other ends
			step.StartedAt = nu.Status.Steps[i-1].FinishedAt
		}
	}
	for i := range nu.Status.Conditions {
		c := &nu.Status.Conditions[i]
		c.Type, c.Status, c.Reason = one(c.Type), metav1.ConditionStatus(one(string(c.Status))), one(c.Reason)
	}
	return nu, nil
}

func shareOwners(owners []metav1.OwnerReference) {
	for i := range owners {
		owners[i].APIVersion, owners[i].Kind = one(owners[i].APIVersion), one(owners[i].Kind)
	}
}

// share gives labels whose texts are kept once for all objects, and the name of the node that they are about once for the object.
func share(labels map[string]string, node string) map[string]string {
	out := make(map[string]string, len(labels))
	for k, v := range labels {
		if v == node {
			v = node
		} else {
			v = one(v)
		}
		out[one(k)] = v
	}
	return out
}

// resumes are the annotations of claims that have but one, by its value: a map is large for a single entry, and thousands of claims have the
// same. Nobody writes to what is in a cache.
var resumes = struct {
	sync.Mutex
	all map[string]map[string]string
}{all: map[string]map[string]string{}}

// annotated are a claim's annotations as they are kept for all claims that have the same.
func annotated(all map[string]string) map[string]string {
	resume, ok := all[v1alpha1.AnnotationResume]
	if !ok || len(all) > 1 {
		return all
	}
	resumes.Lock()
	defer resumes.Unlock()
	if known, ok := resumes.all[resume]; ok {
		return known
	}
	if len(resumes.all) < mostTexts {
		resumes.all[resume] = all
	}
	return all
}

// texts are those that were met first. There are few that thousands of objects share, and names that are not shared must not fill memory.
var texts = struct {
	sync.Mutex
	all map[string]string
}{all: map[string]string{}}

const mostTexts = 2000

// one is the text as it is kept for all that have the same.
func one(text string) string {
	texts.Lock()
	defer texts.Unlock()
	if known, ok := texts.all[text]; ok {
		return known
	}
	if len(texts.all) < mostTexts {
		text = strings.Clone(text)
		texts.all[text] = text
	}
	return text
}

func keep(all map[string]string, key string) map[string]string {
	if v, ok := all[key]; ok {
		return map[string]string{key: v}
	}
	return nil
}
