package version

import (
	"fmt"
	"strings"
)

// UnknownError says that there is no KubernetesVersion of the wanted version.
type UnknownError struct {
	Version string
	// Known are the versions that there are, ascending.
	Known []string
}

func (e *UnknownError) Error() string {
	known := "none is known yet"
	if len(e.Known) > 0 {
		known = "known are " + strings.Join(e.Known, ", ")
	}
	return fmt.Sprintf("Kubernetes version %s is unknown (%s): %s", e.Version, known, importing(e.Version))
}

// NoPathError says that no chain of known versions leads from one version to another.
type NoPathError struct {
	From, To string
	// Missing are minors on the way of which no KubernetesVersion is known, e.g. v1.35.
	Missing []string
	// Allowed is the upgradeFrom of To.
	Allowed []string
}

func (e *NoPathError) Error() string {
	if len(e.Missing) > 0 {
		return fmt.Sprintf("there is no way from %s to %s: no minor may be skipped, and no version of %s is known: %s",
			e.From, e.To, strings.Join(e.Missing, ", "), importing(e.Missing[0]+".x"))
	}
	allowed := "from no version"
	if len(e.Allowed) > 0 {
		allowed = "only from " + strings.Join(e.Allowed, ", ")
	}
	return fmt.Sprintf("there is no way from %s to %s: %s can be reached %s (its upgradeFrom); import a version in between with `refit bundle import IMAGE`",
		e.From, e.To, e.To, allowed)
}

// DowngradeError says that the cluster, or a node of it, cannot go back to a version.
type DowngradeError struct {
	From, To string
	// Node that runs From, where not all do.
	Node string
	// Allowed is the downgradeTo of From.
	Allowed []string
}

func (e *DowngradeError) Error() string {
	who := "the cluster"
	if e.Node != "" {
		who = "node " + e.Node
	}
	allowed := "it can go back to no version"
	if len(e.Allowed) > 0 {
		allowed = "it can go back to " + strings.Join(e.Allowed, ", ")
	}
	return fmt.Sprintf("%s runs %s and cannot go back to %s: %s (downgradeTo of KubernetesVersion %s; Kubernetes never goes back a minor)",
		who, e.From, e.To, allowed, e.From)
}

// AlreadyError says that every component of every node runs the wanted version.
type AlreadyError struct{ Version string }

func (e *AlreadyError) Error() string {
	return fmt.Sprintf("every node runs %s already: nothing to do", e.Version)
}

// UnobservedError says that what a node runs could not be seen.
type UnobservedError struct{ Node string }

func (e *UnobservedError) Error() string {
	if e.Node == "" {
		return "no control plane was seen: are the nodes labelled node-role.kubernetes.io/control-plane, and is this a kubeadm cluster?"
	}
	return fmt.Sprintf("the control-plane version of node %s could not be read: see `kubectl -n kube-system get pods -o wide --field-selector spec.nodeName=%s`", e.Node, e.Node)
}

func importing(v string) string {
	return fmt.Sprintf("build its bundle with `refit bundle build --version %s`, and make it known with `refit bundle import IMAGE`", v)
}
