package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// introduction is what a person can do next.
func introduction(s settings, kubectl string) string {
	path, err := filepath.Abs(s.kubeconfig)
	if err != nil {
		path = s.kubeconfig
	}
	pool, version := "worker", "4.16.3"
	if n := len(s.options.Pools); n > 0 {
		pool = s.options.Pools[n-1].Name
	}
	if len(s.options.AvailableUpdates) > 0 {
		version = s.options.AvailableUpdates[0].Version
	}
	return strings.NewReplacer("KUBECONFIG_PATH", path, "KUBECTL_DIR", filepath.Dir(kubectl), "VERSION", version, "POOL", pool).Replace(fmt.Sprintf(`
The cluster is at %s. In another terminal:
  export KUBECONFIG=KUBECONFIG_PATH
  export PATH="KUBECTL_DIR:$PATH"        # if you have no kubectl
  kubectl get clusterversion,clusteroperators,machineconfigpools
Update it, and watch:
  kubectl patch clusterversion version --type merge -p '{"spec":{"desiredUpdate":{"version":"VERSION"}}}'
  kubectl get clusterversion version --watch
Pause a pool, and let it go on:
  kubectl patch machineconfigpool POOL --type merge -p '{"spec":{"paused":true}}'
  kubectl patch machineconfigpool POOL --type merge -p '{"spec":{"paused":false}}'
Here, type help for what can go wrong, or quit.
`, s.options.Version))
}
