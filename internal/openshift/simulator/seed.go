package simulator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// clusterID is the same for every simulated cluster.
	clusterID = "5e1b1f0c-6d2a-4b57-9a39-0c5f1f2f6a01"
	upstream  = "https://api.openshift.com/api/upgrades_info/v1/graph"
	// installTook is how long an entry of the seeded history took, and updatesApart is how far apart they began.
	installTook  = 40 * time.Minute
	updatesApart = 7 * 24 * time.Hour
)

// Seed makes the ClusterVersion, the ClusterOperators and the MachineConfigPools of the options, all well and at the options' version. What
// is there already stays as it is.
func (s *Simulator) Seed(ctx context.Context) error {
	s.stepping.Lock()
	defer s.stepping.Unlock()
	w, active := s.look()
	if !active {
		return errors.New("seed the cluster: the operators are interrupted")
	}
	w.rendered = w.options.Version
	if err := s.seedVersion(ctx, w); err != nil {
		return fmt.Errorf("seed the ClusterVersion: %w", err)
	}
	for _, name := range w.options.Operators {
		if err := s.seedOperator(ctx, w, name); err != nil {
			return fmt.Errorf("seed ClusterOperator %s: %w", name, err)
		}
	}
	for _, p := range w.options.Pools {
		if err := s.seedPool(ctx, w, p); err != nil {
			return fmt.Errorf("seed MachineConfigPool %s: %w", p.Name, err)
		}
	}
	return nil
}

// create makes an object, and gives it as it is in the cluster, whoever made it.
func (s *Simulator) create(ctx context.Context, o client.Object) error {
	err := s.client.Create(ctx, o)
	if apierrors.IsAlreadyExists(err) {
		return s.client.Get(ctx, client.ObjectKeyFromObject(o), o)
	}
	return err
}

func (s *Simulator) seedVersion(ctx context.Context, w *world) error {
	v := &w.version
	v.Name = ClusterVersionName
	v.Spec = configv1.ClusterVersionSpec{ClusterID: clusterID, Channel: w.options.Channel, Upstream: upstream}
	if err := s.create(ctx, v); err != nil {
		return err
	}
	if len(v.Status.History) > 0 {
		return nil
	}
	v.Status.History = w.history()
	release := w.current()
	v.Status.Desired, v.Status.VersionHash = release, versionHash(release)
	v.Status.ObservedGeneration = v.Generation
	c := w.conditions()
	c.set(configv1.OperatorAvailable, true, "", "Done applying "+release.Version)
	c.set(failing, false, "", "")
	c.set(configv1.OperatorProgressing, false, "", "Cluster version is "+release.Version)
	c.set(implicitlyEnabled, false, "AsExpected", "Capabilities match configured spec")
	w.retrieve()
	w.admit(nil)
	return s.client.Status().Update(ctx, v)
}

// current is the release of the options' version.
func (w *world) current() configv1.Release {
	r, _ := find(&configv1.Update{Version: w.options.Version}, w.known)
	return r
}

// history is that of the options, with the version of the options as the newest entry, and with what its entries leave out.
func (w *world) history() []configv1.UpdateHistory {
	out := slices.Clone(w.options.History)
	if len(out) == 0 || out[0].Version != w.options.Version {
		newest := configv1.UpdateHistory{Version: w.options.Version, Image: w.current().Image, Verified: true}
		out = append([]configv1.UpdateHistory{newest}, out...)
	}
	for i := range out {
		h := &out[i]
		if h.State == "" {
			h.State = configv1.CompletedUpdate
		}
		if h.Image == "" {
			h.Image = Image(h.Version)
		}
		if h.StartedTime.IsZero() {
			h.StartedTime = metav1.NewTime(w.now.Add(-installTook - time.Duration(i)*updatesApart))
		}
		if h.CompletionTime == nil {
			h.CompletionTime = &metav1.Time{Time: h.StartedTime.Add(installTook)}
		}
	}
	return out
}

func (s *Simulator) seedOperator(ctx context.Context, w *world, name string) error {
	o := &configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := s.create(ctx, o); err != nil {
		return err
	}
	if len(o.Status.Versions) > 0 {
		return nil
	}
	setVersion(&o.Status, w.options.Version)
	w.operators = map[string]*configv1.ClusterOperator{name: o}
	w.operatorStatus(o, false)
	return s.client.Status().Update(ctx, o)
}

func (s *Simulator) seedPool(ctx context.Context, w *world, pool Pool) error {
	p := &machinev1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Name: pool.Name, Labels: map[string]string{
		"pools.operator.machineconfiguration.openshift.io/" + pool.Name: "",
	}}}
	maps.Copy(p.Labels, pool.Labels)
	p.Spec = machinev1.MachineConfigPoolSpec{
		MachineConfigSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"machineconfiguration.openshift.io/role": pool.Name}},
		NodeSelector:          &metav1.LabelSelector{MatchLabels: map[string]string{"node-role.kubernetes.io/" + pool.Name: ""}},
		MaxUnavailable:        pool.MaxUnavailable,
	}
	p.Spec.Configuration.ObjectReference = reference(Rendered(pool.Name, w.options.Version))
	if err := s.create(ctx, p); err != nil {
		return err
	}
	if len(p.Status.Conditions) > 0 {
		return nil
	}
	s.machines[p.Name] = firstSeen(p, pool.Machines)
	w.poolStatus(p, s.machines[p.Name])
	return s.client.Status().Update(ctx, p)
}
