package snapshot

import (
	"time"

	"refit.dev/refit/api/v1alpha1"
)

// Node is one node as the API server shows it.
type Node struct {
	Name string
	UID  string
	// ControlPlane says that the node has the label node-role.kubernetes.io/control-plane.
	ControlPlane bool
	CreatedAt    time.Time
	// Labels of the node, for the groups of a RolloutPlan. May be nil.
	Labels map[string]string

	// Ready is the Ready condition being True. An Unknown one is false.
	Ready bool
	// ReadySince is the last transition of the Ready condition, in either direction.
	ReadySince time.Time
	// NotReadyReason is the Ready condition's message while it is not True.
	NotReadyReason string
	// DiskPressure, MemoryPressure and PIDPressure are the node's conditions.
	DiskPressure, MemoryPressure, PIDPressure bool

	// Cordoned is spec.unschedulable.
	Cordoned bool
	// CordonedBy is the annotation refit.dev/cordoned-by of a node that is Cordoned: the UID of the NodeUpgrade that did it. Empty:
	// a person did, or the node is not cordoned.
	CordonedBy string
	// Tainted says that a NoSchedule or NoExecute taint other than the cordon's and the node life-cycle's own keeps ordinary
	// pods away, as on most control planes.
	Tainted bool

	// KubeletVersion as the node reports it, e.g. v1.35.4.
	KubeletVersion string
	// RuntimeVersion as the node reports it, e.g. containerd://2.2.9.
	RuntimeVersion string

	// Components are the static pods; nil for a worker, and for a control plane whose pods could not be read.
	Components *Components
}

// Type is the node's role as the API spells it.
func (n *Node) Type() v1alpha1.NodeType {
	if n.ControlPlane {
		return v1alpha1.NodeTypeControlPlane
	}
	return v1alpha1.NodeTypeWorker
}

// InService says that the node is Ready and takes pods that it tolerates: neither broken nor cordoned.
func (n *Node) InService() bool { return n.Ready && !n.Cordoned }

// TakesPods says that ordinary pods may be scheduled to the node now.
func (n *Node) TakesPods() bool { return n.InService() && !n.Tainted }

// Components are the static pods of a control plane.
type Components struct {
	APIServer         Component
	ControllerManager Component
	Scheduler         Component
	// Etcd is not Found where etcd runs outside the cluster.
	Etcd Component
}

// Component is one static pod.
type Component struct {
	// Found says that its mirror pod exists.
	Found bool
	// Version is the image's tag as a version, e.g. v1.35.4; for etcd as the tag is, e.g. 3.6.6-0.
	Version string
	// Ready is the pod's Ready condition.
	Ready bool
	// Message says why it is not Ready, e.g. "CrashLoopBackOff: back-off 40s restarting failed container".
	Message string
}

// Node is the node of that name, nil where there is none.
func (c *Cluster) Node(name string) *Node {
	for i := range c.Nodes {
		if c.Nodes[i].Name == name {
			return &c.Nodes[i]
		}
	}
	return nil
}

// Version is the KubernetesVersion of that version, nil where there is none.
func (c *Cluster) Version(version string) *v1alpha1.KubernetesVersion {
	for i := range c.Versions {
		if c.Versions[i].Spec.Version == version {
			return &c.Versions[i]
		}
	}
	return nil
}

// Plan is the RolloutPlan of that name, nil where there is none.
func (c *Cluster) Plan(name string) *v1alpha1.RolloutPlan {
	for i := range c.Plans {
		if c.Plans[i].Name == name {
			return &c.Plans[i]
		}
	}
	return nil
}
