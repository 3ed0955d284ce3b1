package nodeupgrade

import (
	"fmt"
	"hash/fnv"
	"net"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
)

const (
	// ServiceAccount is the one that upgrader Pods run as.
	ServiceAccount = "refit-upgrader"
	// LabelRole says on a Pod what it is for.
	LabelRole = "refit.dev/role"

	program       = "/refit-node"
	priorityClass = "system-node-critical"
	maxLabel      = 63
	maxName       = 253
	// graceSeconds lets the step under way end when the Pod is deleted; no further one is started then.
	graceSeconds = 1200
)

// PodName is the name of the Pod of that role on a node. There is one name a node, so that two NodeUpgrades cannot change one
// node at the same time, whatever their caches say.
func PodName(node string, role Role) string {
	suffix := map[Role]string{RoleStager: "-node-stager", RoleEtcdBackup: "-etcd-backup", RoleUpgrader: "-node-upgrader"}[role]
	return shorten(node, maxName-len(suffix)) + suffix
}

// shorten cuts a name that is too long and marks it, so that different names stay different.
func shorten(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return fmt.Sprintf("%s-%08x", name[:limit-9], h.Sum32())
}

// LabelValue is a node's name as a label's value, which may be shorter.
func LabelValue(node string) string { return shorten(node, maxLabel) }

// buildPod is the Pod of a role. It runs on the node of NodeName in the spec.
func buildPod(nu *v1alpha1.NodeUpgrade, role Role, s spec.Spec) (*corev1.Pod, error) {
	encoded, err := s.Encode()
	if err != nil {
		return nil, fmt.Errorf("encode the spec of node %s: %w", s.NodeName, err)
	}
	node := nu.Spec.Machine.Name
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:      PodName(node, role),
			Namespace: nu.Namespace,
			Labels:    podLabels(nu, role),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: "NodeUpgrade", Name: nu.Name, UID: nu.UID, Controller: ptr.To(true),
			}},
		},
		Spec: corev1.PodSpec{
			NodeName:                      s.NodeName,
			HostPID:                       true,
			HostNetwork:                   true,
			RestartPolicy:                 corev1.RestartPolicyNever,
			ServiceAccountName:            ServiceAccount,
			PriorityClassName:             priorityClass,
			Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			TerminationGracePeriodSeconds: ptr.To[int64](graceSeconds),
			EnableServiceLinks:            ptr.To(false),
			DNSPolicy:                     corev1.DNSDefault,
		},
	}
	if role == RoleEtcdBackup {
		step := string(v1alpha1.StepBackupEtcd)
		pod.Spec.Containers = []corev1.Container{container(step, s.Image, encoded, "step", step)}
		return pod, nil
	}
	for _, step := range stepsOf(role, nu.Spec.NodeType) {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, container(string(step), s.Image, encoded, "step", string(step)))
	}
	pod.Spec.Containers = []corev1.Container{container(spec.ReportContainer, s.Image, encoded, "report")}
	return pod, nil
}

func stepsOf(role Role, nodeType v1alpha1.NodeType) []v1alpha1.StepName {
	switch role {
	case RoleStager:
		return spec.StagingSteps()
	case RoleEtcdBackup:
		return []v1alpha1.StepName{v1alpha1.StepBackupEtcd}
	}
	return spec.Steps(nodeType)
}

func podLabels(nu *v1alpha1.NodeUpgrade, role Role) map[string]string {
	labels := map[string]string{
		"app.kubernetes.io/name": ServiceAccount,
		v1alpha1.LabelNode:       LabelValue(nu.Spec.Machine.Name),
		v1alpha1.LabelVersion:    nu.Spec.KubernetesVersion,
		LabelRole:                string(role),
	}
	if upgrade, ok := nu.Labels[v1alpha1.LabelUpgrade]; ok {
		labels[v1alpha1.LabelUpgrade] = upgrade
	}
	return labels
}

func container(name, image, encoded string, args ...string) corev1.Container {
	return corev1.Container{
		Name:            name,
		Image:           image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         append([]string{program}, args...),
		Env: []corev1.EnvVar{
			{Name: spec.EnvSpec, Value: encoded},
			{Name: spec.EnvNodeName, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}},
		},
		SecurityContext:          &corev1.SecurityContext{Privileged: ptr.To(true), RunAsUser: ptr.To[int64](0)},
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
	}
}

// endpoint is where the etcd member of a node answers.
func endpoint(node *corev1.Node) string {
	for _, a := range node.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return "https://" + net.JoinHostPort(a.Address, "2379")
		}
	}
	return "https://" + net.JoinHostPort(node.Name, "2379")
}
