package cli

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/observe"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/version"
)

// runningVersions are the versions that run somewhere though no bundle of theirs was imported: as KubernetesVersions without
// an image, with the state that the manager would give them. An error may come
// along with what could be read.
func (a *app) runningVersions(ctx context.Context, c client.Client, known []v1alpha1.KubernetesVersion) ([]v1alpha1.KubernetesVersion, error) {
	o := &observe.Observer{Reader: c, Live: c, Clock: a.clock}
	seen, err := o.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	imported := map[string]bool{"": true}
	for i := range known {
		imported[known[i].Spec.Version] = true
	}
	var running []v1alpha1.KubernetesVersion
	for _, v := range whatRuns(seen) {
		if _, err := version.Parse(v); err != nil || imported[v] {
			continue
		}
		imported[v] = true
		running = append(running, v1alpha1.KubernetesVersion{Spec: v1alpha1.KubernetesVersionSpec{Version: v}})
	}
	target := ""
	if u := unfinished(seen.Upgrades); u != nil {
		target = u.Spec.ToVersion
	}
	seen.Versions = running
	states := version.States(seen, target)
	for i := range running {
		running[i].Status = states[running[i].Spec.Version]
	}
	if reason, unseen := seen.Unobserved[snapshot.PartControlPlanePods]; unseen {
		for i := range running {
			running[i].Status.State = "" // active or partial: kubelets alone do not tell
		}
		return running, errors.New(reason)
	}
	return running, nil
}

// whatRuns are the versions of everything of Kubernetes that was seen on the nodes, each maybe more than once.
func whatRuns(seen *snapshot.Cluster) []string {
	var all []string
	for i := range seen.Nodes {
		n := &seen.Nodes[i]
		all = append(all, n.KubeletVersion)
		if c := n.Components; c != nil {
			all = append(all, c.APIServer.Version, c.ControllerManager.Version, c.Scheduler.Version)
		}
	}
	return all
}
