package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"refit.dev/refit/lab/engine"
	"refit.dev/refit/lab/host"
	"refit.dev/refit/lab/parts"
)

// HostStatus is what is known of one container of a lab.
type HostStatus struct {
	// Name, Role, Container and Address say which it is.
	Name      string    `json:"name"`
	Role      host.Role `json:"role"`
	Container string    `json:"container"`
	Address   string    `json:"address"`
	// Power is the container's state in Docker's words: running, exited, created.
	Power string `json:"power"`
	// Node is Ready, NotReady, or unknown where the API does not answer; empty for what is no node.
	Node string `json:"node,omitempty"`
	// Kubelet is the version that the node reports.
	Kubelet string `json:"kubelet,omitempty"`
}

// Status looks at every container of the lab, and at the nodes where the API answers.
func (l *Lab) Status(ctx context.Context) ([]HostStatus, error) {
	nodes, nodesErr := l.nodes(ctx)
	var all []HostStatus
	for _, h := range append(l.Hosts(), l.registry, l.balancer) {
		if h == nil {
			continue
		}
		power, err := h.State(ctx)
		if err != nil {
			return nil, err
		}
		s := HostStatus{Name: h.Name, Role: h.Role, Container: h.Container, Address: h.Address.String(), Power: power}
		if h.Role == host.ControlPlane || h.Role == host.Worker {
			s.Node = "unknown"
			if nodesErr == nil {
				s.Node, s.Kubelet = nodes[h.Name].state(), nodes[h.Name].Status.NodeInfo.KubeletVersion
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// node is the little of a node object that the status shows.
type node struct {
	Metadata struct{ Name string }
	Status   struct {
		NodeInfo   struct{ KubeletVersion string }
		Conditions []struct{ Type, Status string }
	}
}

func (n node) state() string {
	for _, c := range n.Status.Conditions {
		if c.Type == "Ready" && c.Status == "True" {
			return "Ready"
		}
	}
	return "NotReady"
}

// statusDeadline bounds the question to an API that may be down.
const statusDeadline = 5 * time.Second

func (l *Lab) nodes(ctx context.Context) (map[string]node, error) {
	store, err := parts.OpenStore()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, statusDeadline)
	defer cancel()
	out, err := exec.CommandContext(ctx, store.Path(parts.Kubernetes(l.Version), "kubectl"), "--kubeconfig", l.Kubeconfig(),
		"get", "nodes", "--output", "json").Output()
	if err != nil {
		return nil, fmt.Errorf("ask for the nodes: %w", err)
	}
	var list struct{ Items []node }
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("read the nodes: %w", err)
	}
	nodes := map[string]node{}
	for _, n := range list.Items {
		nodes[n.Metadata.Name] = n
	}
	return nodes, nil
}

// Names lists the labs on this machine, whole or not.
func Names(ctx context.Context) ([]string, error) {
	text, err := engine.Output(ctx, "ps", "--all", "--filter", "label="+host.LabelLab, "--format", "{{.Label \""+host.LabelLab+"\"}}")
	if err != nil {
		return nil, err
	}
	names := strings.Fields(text)
	slices.Sort(names)
	return slices.Compact(names), nil
}
