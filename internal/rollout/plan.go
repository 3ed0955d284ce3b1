package rollout

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/snapshot"
)

// The defaults of a RolloutPlan.
const (
	defaultStagingParallelism = 10
	defaultDrainTimeout       = 10 * time.Minute
)

// DefaultPlan is what applies without a RolloutPlan: one worker at a time out of service, every node staged ahead, pods drained
// for a minor version.
func DefaultPlan() v1alpha1.RolloutPlanSpec { return withDefaults(v1alpha1.RolloutPlanSpec{}) }

// PlanOf is the RolloutPlan of that name with its defaults filled in, or the default plan where the name is empty.
func PlanOf(c *snapshot.Cluster, name string) (v1alpha1.RolloutPlanSpec, error) {
	if name == "" {
		return DefaultPlan(), nil
	}
	p := c.Plan(name)
	if p == nil {
		return DefaultPlan(), fmt.Errorf("there is no RolloutPlan %s: create it, or name no plan for the default", name)
	}
	return withDefaults(p.Spec), nil
}

func withDefaults(p v1alpha1.RolloutPlanSpec) v1alpha1.RolloutPlanSpec {
	if p.MaxUnavailable == nil && len(p.Groups) == 0 {
		one := intstr.FromInt32(1)
		p.MaxUnavailable = &one
	}
	if p.StagingParallelism < 1 {
		p.StagingParallelism = defaultStagingParallelism
	}
	if p.Networking == "" {
		p.Networking = v1alpha1.NetworkingAfterFirst
	}
	drain := drainDefaults(p.Drain)
	p.Drain = &drain
	return p
}

func drainDefaults(given *v1alpha1.DrainPolicy) v1alpha1.DrainPolicy {
	var d v1alpha1.DrainPolicy
	if given != nil {
		d = *given
	}
	if d.Mode == "" {
		d.Mode = v1alpha1.DrainAuto
	}
	if d.Timeout == nil {
		d.Timeout = &metav1.Duration{Duration: defaultDrainTimeout}
	}
	if d.OnTimeout == "" {
		d.OnTimeout = v1alpha1.DrainFail
	}
	return d
}

// limit is how many of that many workers may be out of service at once: at least one, a percentage rounded down. What is no
// number counts as one.
func limit(most *intstr.IntOrString, workers int) int {
	if most == nil {
		return 1
	}
	n := most.IntValue()
	if most.Type == intstr.String {
		n = percent(most.StrVal, workers)
	}
	return max(1, n)
}

// percent is that share of a number, rounded down; 0 for what is no percentage.
func percent(text string, of int) int {
	p, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
	if err != nil || !strings.HasSuffix(text, "%") {
		return 0
	}
	return of * max(0, min(p, 100)) / 100
}
