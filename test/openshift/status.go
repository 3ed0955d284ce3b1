package main

import (
	"context"
	"fmt"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	machinev1 "github.com/openshift/api/machineconfiguration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/internal/openshift/simulator"
)

// status prints how the cluster is, as kubectl would find it.
func (c *console) status(ctx context.Context) error {
	scheme := runtime.NewScheme()
	if err := simulator.AddToScheme(scheme); err != nil {
		return err
	}
	reader, err := client.New(c.config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	var version configv1.ClusterVersion
	if err := reader.Get(ctx, client.ObjectKey{Name: simulator.ClusterVersionName}, &version); err != nil {
		return fmt.Errorf("read the ClusterVersion: %w", err)
	}
	var operators configv1.ClusterOperatorList
	if err := reader.List(ctx, &operators); err != nil {
		return fmt.Errorf("list the ClusterOperators: %w", err)
	}
	var pools machinev1.MachineConfigPoolList
	if err := reader.List(ctx, &pools); err != nil {
		return fmt.Errorf("list the MachineConfigPools: %w", err)
	}
	var b strings.Builder
	describe(&b, &version, operators.Items, pools.Items)
	c.lines.say("%s", strings.TrimSuffix(b.String(), "\n"))
	return nil
}

func describe(b *strings.Builder, v *configv1.ClusterVersion, operators []configv1.ClusterOperator, pools []machinev1.MachineConfigPool) {
	for _, c := range v.Status.Conditions {
		switch {
		case c.Type == configv1.OperatorProgressing:
			fmt.Fprintf(b, "  %s\n", c.Message)
		case c.Type == "Failing" && c.Status == configv1.ConditionTrue, c.Type == "ReleaseAccepted" && c.Status == configv1.ConditionFalse:
			fmt.Fprintf(b, "  %s=%s: %s\n", c.Type, c.Status, c.Message)
		}
	}
	for _, r := range v.Status.AvailableUpdates {
		fmt.Fprintf(b, "  available: %s  %s\n", r.Version, r.Image)
	}
	for _, o := range operators {
		var not []string
		for _, c := range o.Status.Conditions {
			well := c.Type == configv1.OperatorAvailable || c.Type == configv1.OperatorUpgradeable
			if well != (c.Status == configv1.ConditionTrue) {
				not = append(not, fmt.Sprintf("%s=%s", c.Type, c.Status))
			}
		}
		for _, at := range o.Status.Versions {
			fmt.Fprintf(b, "  operator %-24s %-10s %s\n", o.Name, at.Version, strings.Join(not, " "))
		}
	}
	for _, p := range pools {
		paused := ""
		if p.Spec.Paused {
			paused = ", paused"
		}
		fmt.Fprintf(b, "  pool %-28s %d of %d machines updated, %d unavailable, %d degraded%s\n", p.Name, p.Status.UpdatedMachineCount,
			p.Status.MachineCount, p.Status.UnavailableMachineCount, p.Status.DegradedMachineCount, paused)
	}
}
