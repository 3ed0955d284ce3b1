package openshift

import (
	"context"
	"fmt"
	"slices"
	"strings"

	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/maintenance"
)

// pools reads the machine config pools.
func (t *Target) pools(ctx context.Context) ([]maintenance.Pool, error) {
	var list mcfgv1.MachineConfigPoolList
	if err := t.Live.List(ctx, &list); meta.IsNoMatchError(err) {
		return nil, nil // a hosted control plane has none
	} else if err != nil {
		return nil, fmt.Errorf("list machine config pools: %w", err)
	}
	var out []maintenance.Pool
	for i := range list.Items {
		p := &list.Items[i]
		out = append(out, maintenance.Pool{Name: p.Name, Labels: p.Labels, Paused: p.Spec.Paused, PausedBy: p.Annotations[v1beta1.AnnotationPausedBy],
			Updated: Updated(p), Progress: machines(p)})
	}
	slices.SortFunc(out, func(a, b maintenance.Pool) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Updated says whether every machine of a pool has the configuration that it should have (seed: UpdatedMachineCount is equal to
// MachineCount), and the machine-config operator has seen what it should be.
func Updated(p *mcfgv1.MachineConfigPool) bool {
	return p.Status.ObservedGeneration >= p.Generation && p.Status.UpdatedMachineCount == p.Status.MachineCount &&
		p.Spec.Configuration.Name == p.Status.Configuration.Name
}

// machines says where the machines of a pool stand.
func machines(p *mcfgv1.MachineConfigPool) string {
	text := fmt.Sprintf("%d of %d machines", p.Status.UpdatedMachineCount, p.Status.MachineCount)
	if p.Status.DegradedMachineCount > 0 {
		text += fmt.Sprintf(", %d degraded", p.Status.DegradedMachineCount)
	}
	for _, c := range p.Status.Conditions {
		if c.Type == mcfgv1.MachineConfigPoolDegraded && c.Status == corev1.ConditionTrue {
			text += " (" + either(c.Message, c.Reason) + ")"
		}
	}
	return text
}
