package invariant

import (
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"refit.dev/refit/api/v1alpha1"
)

const controlPlaneLabel = "node-role.kubernetes.io/control-plane"

// outOfService names the workers that take no pods, or do not run those that they have.
func outOfService(nodes []corev1.Node, broken map[string]bool) []string {
	var out []string
	for _, n := range nodes {
		if _, cp := n.Labels[controlPlaneLabel]; cp || broken[n.Name] {
			continue
		}
		if n.Spec.Unschedulable || !ready(n) {
			out = append(out, n.Name)
		}
	}
	sort.Strings(out)
	return out
}

func ready(n corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// controlPlanesInFlight names the control planes that are being changed.
func controlPlanesInFlight(upgrades []v1alpha1.NodeUpgrade) []string {
	var out []string
	for _, u := range upgrades {
		if u.Spec.NodeType == v1alpha1.NodeTypeControlPlane && u.Status.Phase == v1alpha1.NodeUpgrading {
			out = append(out, u.Spec.Machine.Name)
		}
	}
	sort.Strings(out)
	return out
}

// illegalSkew holds what runs against the version skew policy: API servers within a minor of each other, the other
// control-plane components not newer than any API server and at most one minor older, kubelets not newer than the oldest
// API server that they may reach, and at most three minors older. A control plane's kubelet reaches its own API server.
func illegalSkew(nodes []corev1.Node, pods []corev1.Pod) []string {
	servers := map[string]*version.Version{}
	var oldest, newest *version.Version
	for _, p := range pods {
		if v := imageVersion(p); p.Labels["component"] == "kube-apiserver" && v != nil {
			servers[p.Spec.NodeName] = v
			if oldest == nil || v.LessThan(oldest) {
				oldest = v
			}
			if newest == nil || newest.LessThan(v) {
				newest = v
			}
		}
	}
	if oldest == nil {
		return nil
	}
	var out []string
	if newest.Minor() > oldest.Minor()+1 {
		out = append(out, fmt.Sprintf("API servers more than a minor apart: %s and %s", oldest, newest))
	}
	for _, n := range nodes {
		kubelet, err := version.ParseSemantic(n.Status.NodeInfo.KubeletVersion)
		if err != nil {
			continue
		}
		server := oldest
		if own := servers[n.Name]; own != nil {
			server = own
		}
		if kubelet.Minor() > server.Minor() || kubelet.Minor()+3 < newest.Minor() {
			out = append(out, fmt.Sprintf("the kubelet of %s runs %s with an API server at %s", n.Name, kubelet, server))
		}
	}
	return out
}

func imageVersion(p corev1.Pod) *version.Version {
	if len(p.Spec.Containers) == 0 {
		return nil
	}
	_, tag, found := strings.Cut(p.Spec.Containers[0].Image, ":v")
	if !found {
		return nil
	}
	v, err := version.ParseSemantic(tag)
	if err != nil {
		return nil
	}
	return v
}
