package metrics

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// disruption are the hooks that disturb workloads, by namespace.
type disruption map[string][]disruptor

type disruptor struct {
	hook     *v1beta1.UpgradeJobHook
	selector labels.Selector
}

// disruption reads the hooks, and says whether that went well. One whose selector cannot be read selects no job.
func (s *scrape) disruption(ctx context.Context) (disruption, bool) {
	var list v1beta1.UpgradeJobHookList
	if !s.list(ctx, theHooks, &list) {
		return nil, false
	}
	out := disruption{}
	for i := range list.Items {
		h := &list.Items[i]
		if !h.Spec.Disruptive || h.DeletionTimestamp != nil {
			continue
		}
		if selector, err := metav1.LabelSelectorAsSelector(&h.Spec.Selector); err == nil {
			out[h.Namespace] = append(out[h.Namespace], disruptor{h, selector})
		}
	}
	return out, true
}

// of says whether a hook that disturbs workloads runs for a job, or has run.
func (d disruption) of(j *v1beta1.UpgradeJob) bool {
	for _, x := range d[j.Namespace] {
		if runsFor(x.hook, j) && x.selector.Matches(labels.Set(j.Labels)) {
			return true
		}
	}
	return false
}

// runsFor says whether a hook may be a job's: it is not newer than the job's end, and where it runs for one job, no other has it.
func runsFor(h *v1beta1.UpgradeJobHook, j *v1beta1.UpgradeJob) bool {
	end := j.Outcome()
	switch {
	case end != nil && h.CreationTimestamp.After(end.LastTransitionTime.Time):
		return false
	case !h.Once():
		return true
	case h.Status.ClaimedBy == nil:
		return end == nil
	}
	return h.Status.ClaimedBy.UID == j.UID
}
