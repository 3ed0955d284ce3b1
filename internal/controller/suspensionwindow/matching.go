package suspensionwindow

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// matching is the status of a window among the configs and jobs of its namespace: of the jobs only those count that have not finished.
// The list of a selector that cannot be read stays empty; problems say which, and why.
func matching(w *v1beta1.UpgradeSuspensionWindow, configs []v1beta1.UpgradeConfig, jobs []v1beta1.UpgradeJob) (status v1beta1.UpgradeSuspensionWindowStatus, problems []string) {
	of := func(field string, s *metav1.LabelSelector) labels.Selector {
		selector, err := metav1.LabelSelectorAsSelector(s)
		if err != nil {
			problems = append(problems, fmt.Sprintf("spec.%s cannot be read: %v", field, err))
			return labels.Nothing()
		}
		return selector
	}
	forConfigs, forJobs := of("configSelector", w.Spec.ConfigSelector), of("jobSelector", w.Spec.JobSelector)
	for i := range configs {
		if forConfigs.Matches(labels.Set(configs[i].Labels)) {
			status.MatchingConfigs = append(status.MatchingConfigs, v1beta1.MatchingObject{Name: configs[i].Name})
		}
	}
	for i := range jobs {
		if !jobs[i].Finished() && forJobs.Matches(labels.Set(jobs[i].Labels)) {
			status.MatchingJobs = append(status.MatchingJobs, v1beta1.MatchingObject{Name: jobs[i].Name})
		}
	}
	byName := func(a, b v1beta1.MatchingObject) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(status.MatchingConfigs, byName)
	slices.SortFunc(status.MatchingJobs, byName)
	return status, problems
}
