// Package snapshot holds what one observation of a cluster saw, as plain values. `internal/observe` fills it; the deciding
// packages read it and never change it. It does no I/O and knows no client.
package snapshot

import (
	"time"

	"refit.dev/refit/api/v1alpha1"
)

// Cluster is one observation of a cluster.
type Cluster struct {
	// Now is the time of the observation, and the only clock of the deciding packages.
	Now time.Time
	// Nodes are all nodes, in any order.
	Nodes []Node
	// Etcd is what every API server stores in.
	Etcd Etcd
	// Kubeadm is what the ConfigMap kube-system/kubeadm-config says.
	Kubeadm Kubeadm
	// Certificates that were seen, of every control plane and of the cluster's authorities.
	Certificates []Certificate
	// Webhooks are those that would be called when a pod is created or evicted, or a node or Lease is written.
	Webhooks []Webhook
	// DeprecatedAPIs were asked for since the API servers started (metric apiserver_requested_deprecated_apis).
	DeprecatedAPIs []DeprecatedAPI
	// Versions, Upgrades, ControlPlaneUpgrades, NodeUpgrades and Plans are Refit's own objects. NodeUpgrades are the claims
	// on nodes: before anything new is started they have to be what the API server is known to have, which a cache alone does not tell. They may
	// be a cache's own.
	Versions             []v1alpha1.KubernetesVersion
	Upgrades             []v1alpha1.KubernetesUpgrade
	ControlPlaneUpgrades []v1alpha1.ControlPlaneUpgrade
	NodeUpgrades         []*v1alpha1.NodeUpgrade
	Plans                []v1alpha1.RolloutPlan

	// Unobserved says, for each part that could not be read, why. A gate that needs the part is closed then.
	Unobserved map[Part]string
}

// Part names what a Cluster holds, for Unobserved.
type Part string

// The parts that an observation may fail to read. Nodes and Refit's own objects are no such part: without them there is no
// observation at all.
const (
	PartControlPlanePods Part = "control-plane-pods"
	PartEtcd             Part = "etcd"
	PartKubeadm          Part = "kubeadm-config"
	PartCertificates     Part = "certificates"
	PartWebhooks         Part = "webhooks"
	PartDeprecatedAPIs   Part = "deprecated-apis"
)

// Kubeadm is what the cluster's kubeadm-config ConfigMap says.
type Kubeadm struct {
	// Found says that the ConfigMap is there: the cluster is kubeadm's.
	Found bool
	// KubernetesVersion of the ClusterConfiguration, e.g. v1.35.4: `kubeadm upgrade apply` moves it, `upgrade node` follows it.
	KubernetesVersion string
}

// Certificate is one that was seen, for instance in a TLS handshake.
type Certificate struct {
	// Node that serves it, empty for an authority of the whole cluster.
	Node string
	// Name says what it is for: apiserver, etcd-server, ca, ...
	Name string
	// NotAfter is when it expires.
	NotAfter time.Time
	// Authority says that it signs others: kubeadm does not renew it.
	Authority bool
}

// DeprecatedAPI is a deprecated API that somebody asked for.
type DeprecatedAPI struct {
	// Group is empty for the core group.
	Group, Version, Resource string
	// Subresource is empty for the resource itself.
	Subresource string
	// RemovedRelease is the minor that no longer serves it, e.g. "1.37". Empty where none is known.
	RemovedRelease string
}

// Webhook is an admission webhook that matches something that an upgrade needs.
type Webhook struct {
	// Configuration is the object's kind and name, e.g. ValidatingWebhookConfiguration/policy.
	Configuration string
	// Name of the webhook in it.
	Name string
	// FailClosed says that failurePolicy is Fail.
	FailClosed bool
	// Matches are the requests that it is called for, in words, e.g. "create pods".
	Matches []string
	// Service that it calls, namespace/name, empty where it calls a URL.
	Service string
	// URL that it calls, empty where it calls a Service.
	URL string
	// ReadyEndpoints of the Service. Meaningless for a URL.
	ReadyEndpoints int
}
