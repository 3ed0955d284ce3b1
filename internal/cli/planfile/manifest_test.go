package planfile

import (
	"fmt"
	"strings"
)

// manifest writes nodes such as "cp v1.36.1, w v1.36.1", of which cp are control planes.
func manifest(nodes string) string {
	var out strings.Builder
	for i, node := range strings.Split(nodes, ", ") {
		role, version, _ := strings.Cut(node, " ")
		labels := ""
		if role == "cp" {
			labels = `node-role.kubernetes.io/control-plane: ""`
		}
		fmt.Fprintf(&out, "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s-%d, labels: {%s}}\nstatus: {nodeInfo: {kubeletVersion: %s}}\n", role, i+1, labels, version)
	}
	return out.String()
}
