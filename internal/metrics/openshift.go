package metrics

import (
	"context"

	configv1 "github.com/openshift/api/config/v1"
	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/internal/target/openshift"
)

var (
	clusterUpgrading = own("cluster_upgrading", "1 while the cluster is being upgraded, 0 otherwise.")

	aliasClusterUpgrading = alias("cluster_upgrading", "1 while the cluster is being upgraded, 0 otherwise.")
	aliasPoolUpgrading    = alias("machine_config_pools_upgrading", "1 while a machine config pool is being updated, 0 otherwise. A paused one is not.", "pool")
	aliasPoolPaused       = alias("machine_config_pools_paused", "1 where a machine config pool is paused, 0 otherwise.", "pool")

	clusterMetrics = []*metric{clusterUpgrading, aliasClusterUpgrading, aliasPoolUpgrading, aliasPoolPaused}
)

func (s *scrape) upgrading(yes bool) {
	s.gauge(clusterUpgrading, number(yes))
	s.gauge(aliasClusterUpgrading, number(yes))
}

// openShift gives the machine config pools, and whether the cluster is being upgraded: either half of the answer is enough for a yes, a no
// takes both.
func (s *scrape) openShift(ctx context.Context) {
	inPools, poolsKnown := s.pools(ctx)
	ctx, cancel := context.WithTimeout(ctx, s.share)
	defer cancel()
	var cv configv1.ClusterVersion
	err := s.reader.Get(ctx, client.ObjectKey{Name: openshift.Name}, &cv)
	if err != nil {
		s.failed(theOpenShift, err)
	}
	yes := inPools || err == nil && !completed(&cv)
	if yes || poolsKnown && err == nil {
		s.upgrading(yes)
	}
}

// pools gives the machine config pools, and says whether one is being updated, and whether that is known.
func (s *scrape) pools(ctx context.Context) (upgrading, known bool) {
	var list mcfgv1.MachineConfigPoolList
	if !s.list(ctx, thePools, &list) {
		return false, false
	}
	for i := range list.Items {
		p := &list.Items[i]
		updating := !p.Spec.Paused && !openshift.Updated(p)
		upgrading = upgrading || updating
		s.gauge(aliasPoolUpgrading, number(updating), p.Name)
		s.gauge(aliasPoolPaused, number(p.Spec.Paused), p.Name)
	}
	return upgrading, true
}

// completed says whether the version that was asked for is installed, or, where none was, whether the latest one is.
func completed(cv *configv1.ClusterVersion) bool {
	if len(cv.Status.History) == 0 || cv.Status.History[0].State != configv1.CompletedUpdate {
		return false
	}
	want, last := cv.Spec.DesiredUpdate, cv.Status.History[0]
	switch {
	case want == nil:
		return true
	case want.Version != "":
		return want.Version == last.Version
	}
	return want.Image == "" || want.Image == last.Image
}
