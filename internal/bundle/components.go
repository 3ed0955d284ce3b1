package bundle

// The components of a bundle, as KubernetesVersions name them.
const (
	ComponentKubernetes = "kubernetes"
	ComponentContainerd = "containerd"
	ComponentRunc       = "runc"
	ComponentCNI        = "cni-plugins"
	ComponentEtcd       = "etcd"
	ComponentCoreDNS    = "coredns"
	ComponentPause      = "pause"
)
