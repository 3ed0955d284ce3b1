package planfile

import (
	"fmt"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"refit.dev/refit/api/v1alpha1"
)

const (
	// The API allows no more.
	mostGroups  = 100
	longestName = 40
	longestSpan = 8760 * time.Hour
)

var (
	groupName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	share     = regexp.MustCompile(`^([1-9]|[1-9][0-9]|100)%$`)
	shareOr0  = regexp.MustCompile(`^([0-9]|[1-9][0-9]|100)%$`)
)

// check is what the API server would refuse a plan for.
func check(p *v1alpha1.RolloutPlanSpec) error {
	if n := len(p.Groups); n > mostGroups {
		return fmt.Errorf("spec.groups has %d groups, and at most %d are allowed: take several together", n, mostGroups)
	}
	if err := checkShares("spec", p.MaxUnavailable, nil, p.FailureBudget); err != nil {
		return err
	}
	switch {
	case p.StagingParallelism < 0:
		return fmt.Errorf("spec.stagingParallelism is %d: write a number of at least 1, or leave it out for 10", p.StagingParallelism)
	case p.Networking != "" && p.Networking != v1alpha1.NetworkingAfterFirst && p.Networking != v1alpha1.NetworkingFirst:
		return fmt.Errorf("spec.networking is %q: write %s or %s", p.Networking, v1alpha1.NetworkingAfterFirst, v1alpha1.NetworkingFirst)
	}
	if err := checkDrain("spec.drain", p.Drain); err != nil {
		return err
	}
	names := map[string]int{}
	for i := range p.Groups {
		g, field := &p.Groups[i], fmt.Sprintf("spec.groups[%d]", i)
		if err := checkGroup(field, i, g); err != nil {
			return err
		}
		if other, twice := names[g.Name]; twice {
			return fmt.Errorf("%s.name %s is that of spec.groups[%d], too: give each group a name of its own", field, g.Name, other)
		}
		names[g.Name] = i
	}
	return nil
}

func checkGroup(field string, i int, g *v1alpha1.NodeGroup) error {
	switch {
	case g.Name == "":
		return fmt.Errorf("%s.name is missing: give the group a name", field)
	case !groupName.MatchString(g.Name) || len(g.Name) > longestName:
		return fmt.Errorf("%s.name %q is no name: write at most %d small letters, digits and dashes, such as zone-a", field, g.Name, longestName)
	case i == 0 && g.BesidePrevious:
		return fmt.Errorf("%s.besidePrevious: the first group has none before it: remove it", field)
	case g.Selector == nil && g.Nodes == nil:
		return fmt.Errorf("%s (%s) selects no node: write a selector or nodes", field, g.Name)
	}
	if err := checkShares(field, g.MaxUnavailable, g.Parallelism, g.FailureBudget); err != nil {
		return err
	}
	return checkDrain(field+".drain", g.Drain)
}

// checkShares checks numbers and percentages.
func checkShares(field string, maxUnavailable, parallelism, failureBudget *intstr.IntOrString) error {
	for _, c := range []struct {
		name    string
		value   *intstr.IntOrString
		least   int
		percent *regexp.Regexp
	}{
		{"maxUnavailable", maxUnavailable, 1, share}, {"parallelism", parallelism, 1, share}, {"failureBudget", failureBudget, 0, shareOr0},
	} {
		if v := c.value; v != nil && (v.Type == intstr.Int && v.IntValue() < c.least || v.Type == intstr.String && !c.percent.MatchString(v.StrVal)) {
			return fmt.Errorf("%s.%s is %q: write a number of at least %d, or a percentage from %d%% to 100%%", field, c.name, v.String(), c.least, c.least)
		}
	}
	return nil
}

func checkDrain(field string, d *v1alpha1.DrainPolicy) error {
	switch {
	case d == nil:
	case d.Mode != "" && d.Mode != v1alpha1.DrainAuto && d.Mode != v1alpha1.DrainAlways && d.Mode != v1alpha1.DrainNever:
		return fmt.Errorf("%s.mode is %q: write Auto, Always or Never", field, d.Mode)
	case d.OnTimeout != "" && d.OnTimeout != v1alpha1.DrainFail && d.OnTimeout != v1alpha1.DrainSkip && d.OnTimeout != v1alpha1.DrainForce:
		return fmt.Errorf("%s.onTimeout is %q: write Fail, Skip or Force", field, d.OnTimeout)
	case d.GracePeriodSeconds != nil && *d.GracePeriodSeconds < 0:
		return fmt.Errorf("%s.gracePeriodSeconds is %d: write a number of at least 0", field, *d.GracePeriodSeconds)
	}
	return nil
}

// checkTimes says which time span of a plan cannot be read: what is wrong with one is said by nobody else with its field.
func checkTimes(field string, value any) error {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range []string{"soak", "timeout"} {
			text, given := v[key].(string)
			if d, err := time.ParseDuration(text); given && (err != nil || d < 0 || d > longestSpan) {
				return fmt.Errorf("%s.%s %q is not a time span: write it as 30m, 4h or 1h30m, at most %dh", field, key, text, int(longestSpan.Hours()))
			}
		}
		for _, key := range []string{"drain", "verify", "groups"} {
			if err := checkTimes(field+"."+key, v[key]); err != nil {
				return err
			}
		}
	case []any:
		for i := range v {
			if err := checkTimes(fmt.Sprintf("%s[%d]", field, i), v[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
