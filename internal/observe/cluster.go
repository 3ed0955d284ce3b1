package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
)

// How old what is asked of servers, rather than read from the API, may be.
const (
	etcdAge = 5 * time.Second
	// etcdAgeInFlight applies while a control plane is being upgraded: its member is expected to be away, asking it takes until a
	// time-out, and nothing is decided by the answer.
	etcdAgeInFlight = time.Minute
	webhookAge      = 30 * time.Second
	certificateAge  = 10 * time.Minute
	deprecatedAge   = 10 * time.Minute
)

// How long each part may take. The bounds of single requests are shorter, so that one server that hangs does not take away what the
// others say.
const (
	etcdWithin        = 10 * time.Second
	certificateWithin = 5 * time.Second
	webhookWithin     = 10 * time.Second
	deprecatedWithin  = 10 * time.Second
	kubeadmWithin     = 5 * time.Second
)

// Observer reads clusters.
type Observer struct {
	// Reader may read from a cache.
	Reader client.Reader
	// Kept has nodes and the claims on them as the Reader has them; nil: they are listed.
	Kept Kept
	// Live reads from the API server.
	Live client.Reader
	// Config is how the API server is reached: its servers are asked one by one for certificates and metrics.
	Config *rest.Config
	// Etcd is the folder with etcd's client certificate.
	Etcd  EtcdCertificates
	Clock clock.PassiveClock

	etcd         memo[snapshot.Etcd]
	certificates memo[[]snapshot.Certificate]
	webhooks     memo[[]snapshot.Webhook]
	deprecated   memo[[]snapshot.DeprecatedAPI]
	kubeadm      memo[snapshot.Kubeadm]

	known known
}

// Freshness says how much is read anew.
type Freshness int

const (
	// Cached takes what is at hand: good enough to see that there is nothing to do.
	Cached Freshness = iota
	// Known asks etcd now, and takes the claims by which nodes may be out as this process knows them: as the API server said when it was last asked,
	// at most half a minute ago, and as this process wrote them since (Wrote). A start may rest on it where nobody else can have begun anything since.
	Known
	// Fresh asks etcd now, and reads the claims by which nodes may be out from the API server: what a start of anything may always rest on.
	Fresh
)

// Nodes observes nodes, their components and Refit's objects, and nothing that takes longer.
func (o *Observer) Nodes(ctx context.Context) (*snapshot.Cluster, error) {
	c, _, err := o.base(ctx, Cached)
	return c, err
}

// Cluster observes everything. What it returns is only to be looked at: parts of it may be the cache's own. Parts that cannot be
// read are said to be unobserved; nodes, and Refit's own objects, are no such parts: without them there is an error.
func (o *Observer) Cluster(ctx context.Context, f Freshness) (*snapshot.Cluster, error) {
	c, pods, err := o.base(ctx, f)
	if err != nil {
		return nil, err
	}
	age := etcdAge
	switch {
	case f != Cached:
		age = 0
	case controlPlaneInFlight(c.NodeUpgrades):
		age = etcdAgeInFlight
	}
	o.parts(ctx, c, pods, age)
	c.Now = o.Clock.Now()
	return c, nil
}

// parts reads what is asked of servers, all at once, each part within its own time.
func (o *Observer) parts(ctx context.Context, c *snapshot.Cluster, pods []corev1.Pod, age time.Duration) {
	var reads reads
	reads.add(snapshot.PartEtcd, func() (err error) {
		c.Etcd, err = o.etcd.get(ctx, o.Clock, age, within(etcdWithin, func(ctx context.Context) (snapshot.Etcd, error) { return probeEtcd(ctx, o.Etcd, pods) }))
		return err
	})
	reads.add(snapshot.PartCertificates, func() (err error) {
		c.Certificates, err = o.certificates.get(ctx, o.Clock, certificateAge, within(certificateWithin, func(ctx context.Context) ([]snapshot.Certificate, error) {
			return probeCertificates(ctx, o.Config, o.Etcd, pods)
		}))
		return err
	})
	reads.add(snapshot.PartWebhooks, func() (err error) {
		c.Webhooks, err = o.webhooks.get(ctx, o.Clock, webhookAge, within(webhookWithin, func(ctx context.Context) ([]snapshot.Webhook, error) {
			return listWebhooks(ctx, o.Live)
		}))
		return err
	})
	reads.add(snapshot.PartDeprecatedAPIs, func() (err error) {
		c.DeprecatedAPIs, err = o.deprecated.get(ctx, o.Clock, deprecatedAge, within(deprecatedWithin, func(ctx context.Context) ([]snapshot.DeprecatedAPI, error) {
			return probeDeprecatedAPIs(ctx, o.Config, pods)
		}))
		return err
	})
	reads.add(snapshot.PartKubeadm, func() (err error) {
		c.Kubeadm, err = o.kubeadm.get(ctx, o.Clock, kubeadmAge(c, age), within(kubeadmWithin, func(ctx context.Context) (snapshot.Kubeadm, error) { return readKubeadm(ctx, o.Live) }))
		return err
	})
	for part, why := range reads.wait() {
		c.Unobserved[part] = why
	}
}

func (o *Observer) base(ctx context.Context, f Freshness) (*snapshot.Cluster, []corev1.Pod, error) {
	c := &snapshot.Cluster{Now: o.Clock.Now(), Unobserved: map[snapshot.Part]string{}}
	// What orders nodes is read before the claims on them: whoever begins a node writes to the former first (claim.TakeTurn), so
	// that a claim which is missed here makes that write fail. The same holds for a cache that is behind with what orders them.
	// Nodes come last, and can only be further than their claims say.
	if err := o.objects(ctx, c); err != nil {
		return nil, nil, err
	}
	var err error
	if c.NodeUpgrades, err = o.nodeUpgrades(ctx, f); err != nil {
		return nil, nil, err
	}
	nodes, err := o.kept().Nodes(ctx)
	if err != nil {
		return nil, nil, err
	}
	c.Nodes = make([]snapshot.Node, 0, len(nodes))
	for _, n := range nodes {
		c.Nodes = append(c.Nodes, Node(n))
	}
	slices.SortFunc(c.Nodes, func(a, b snapshot.Node) int { return strings.Compare(a.Name, b.Name) })
	var pods corev1.PodList
	err = o.Reader.List(ctx, &pods, client.InNamespace(systemNamespace), client.MatchingLabels{LabelTier: TierControlPlane}, client.UnsafeDisableDeepCopy)
	if err != nil {
		c.Unobserved[snapshot.PartControlPlanePods] = fmt.Sprintf("list the Pods of control planes: %v", err)
		return c, nil, nil
	}
	fillComponents(c.Nodes, pods.Items)
	return c, pods.Items, nil
}

func (o *Observer) kept() Kept {
	if o.Kept != nil {
		return o.Kept
	}
	return listed{o.Reader}
}

// objects reads Refit's own objects, except NodeUpgrades.
func (o *Observer) objects(ctx context.Context, c *snapshot.Cluster) error {
	var (
		versions      v1alpha1.KubernetesVersionList
		upgrades      v1alpha1.KubernetesUpgradeList
		controlPlanes v1alpha1.ControlPlaneUpgradeList
		plans         v1alpha1.RolloutPlanList
	)
	if err := o.Reader.List(ctx, &versions); err != nil {
		return fmt.Errorf("list KubernetesVersions: %w", err)
	}
	if err := o.Reader.List(ctx, &upgrades); err != nil {
		return fmt.Errorf("list KubernetesUpgrades: %w", err)
	}
	if err := o.Reader.List(ctx, &controlPlanes, client.InNamespace(v1alpha1.Namespace)); err != nil {
		return fmt.Errorf("list ControlPlaneUpgrades: %w", err)
	}
	if err := o.Reader.List(ctx, &plans); err != nil {
		return fmt.Errorf("list RolloutPlans: %w", err)
	}
	c.Versions, c.Upgrades, c.ControlPlaneUpgrades, c.Plans = versions.Items, upgrades.Items, controlPlanes.Items, plans.Items
	return nil
}

// kubeadmAge is how old kubeadm's record may be: only the upgrade of a control plane changes it, and decides by it.
func kubeadmAge(c *snapshot.Cluster, age time.Duration) time.Duration {
	busy := slices.ContainsFunc(c.ControlPlaneUpgrades, func(u v1alpha1.ControlPlaneUpgrade) bool { return !u.Status.Ready })
	if len(c.ControlPlaneUpgrades) == 0 || busy {
		return age
	}
	return max(age, etcdAge)
}

func controlPlaneInFlight(claims []*v1alpha1.NodeUpgrade) bool {
	return slices.ContainsFunc(claims, func(nu *v1alpha1.NodeUpgrade) bool {
		return nu.Spec.NodeType == v1alpha1.NodeTypeControlPlane && !nu.Spec.Hold && !nu.Status.Phase.Ended()
	})
}
