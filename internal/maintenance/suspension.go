package maintenance

import (
	"time"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/schedule"
)

// suspension is the window that holds what is selected at a time: of several the one that ends last; nil where none does. A window of that
// time with a selector that cannot be read is an error: it may be meant for this one.
func suspension(windows []v1beta1.UpgradeSuspensionWindow, t time.Time, holds func(*v1beta1.UpgradeSuspensionWindow) (bool, error)) (*v1beta1.UpgradeSuspensionWindow, error) {
	var spans []schedule.Suspension
	byName := map[string]*v1beta1.UpgradeSuspensionWindow{}
	for i := range windows {
		w := &windows[i]
		if t.Before(w.Spec.Start.Time) || t.After(w.Spec.End.Time) {
			continue
		}
		held, err := holds(w)
		if err != nil {
			return nil, err
		}
		if held {
			spans = append(spans, schedule.Suspension{Name: w.Name, Reason: w.Spec.Reason, Start: w.Spec.Start.Time, End: w.Spec.End.Time})
			byName[w.Name] = w
		}
	}
	s, found := schedule.Suspended(spans, t)
	if !found {
		return nil, nil
	}
	return byName[s.Name], nil
}

// Suspends is the window that keeps an UpgradeConfig from creating a job at a time; nil where none does.
func Suspends(windows []v1beta1.UpgradeSuspensionWindow, c *v1beta1.UpgradeConfig, t time.Time) (*v1beta1.UpgradeSuspensionWindow, error) {
	return suspension(windows, t, func(w *v1beta1.UpgradeSuspensionWindow) (bool, error) { return w.HoldsConfig(c) })
}

// Skips is the window that keeps an UpgradeJob from starting at a time; nil where none does.
func Skips(windows []v1beta1.UpgradeSuspensionWindow, j *v1beta1.UpgradeJob, t time.Time) (*v1beta1.UpgradeSuspensionWindow, error) {
	return suspension(windows, t, func(w *v1beta1.UpgradeSuspensionWindow) (bool, error) { return w.HoldsJob(j) })
}
