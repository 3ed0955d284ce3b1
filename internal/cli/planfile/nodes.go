package planfile

import (
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Nodes reads what `kubectl get nodes -o json` or yaml prints, and names what is no Node. Ready are the nodes that say nothing of their
// state, and count as Ready: they were written by hand.
func Nodes(data []byte) (nodes []corev1.Node, passedOver, ready []string, err error) {
	seen := map[string]bool{}
	err = each(data, func(h head, object []byte) error {
		if h.Kind != "Node" {
			passedOver = append(passedOver, h.String())
			return nil
		}
		var n corev1.Node
		if err := json.Unmarshal(object, &n); err != nil {
			return fmt.Errorf("%s: %w", h, err)
		}
		switch {
		case n.Name == "":
			return errors.New("a Node has no metadata.name: take what `kubectl get nodes -o json` prints")
		case seen[n.Name]:
			return fmt.Errorf("Node %s is there twice: remove one", n.Name)
		case n.Status.NodeInfo.KubeletVersion == "":
			return fmt.Errorf("Node %s: status.nodeInfo.kubeletVersion is missing: take what `kubectl get nodes -o json` prints", n.Name)
		}
		seen[n.Name] = true
		if len(n.Status.Conditions) == 0 {
			ready = append(ready, n.Name)
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		}
		nodes = append(nodes, n)
		return nil
	})
	if err == nil && len(nodes) == 0 {
		err = errors.New("there is no Node in it: take what `kubectl get nodes -o json` prints")
	}
	return nodes, passedOver, ready, err
}
