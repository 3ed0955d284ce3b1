package prometheus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/prometheus/common/model"
)

// Labels of the series ALERTS, which has a sample for every instance of an alert that is pending or firing.
const (
	labelSeverity  = "severity"
	labelNamespace = "namespace"
	labelState     = "alertstate"
)

// Alert is one instance of a firing alert: those of one name differ in their labels.
type Alert struct {
	// Name is the alert's; Namespace and Severity are its labels of that name, empty where it has none.
	Name, Namespace, Severity string
	// Labels are all labels of the alert, also the three above: alertname, namespace, severity.
	Labels map[string]string
}

// FiringAlerts gives every instance of an alert that fires with the severity, e.g. "critical", sorted by name, namespace and the other
// labels. Pending ones do not count. An answer with warnings, which may lack alerts, is a *PartialError. None leaves alerts out: an
// answer that is too large is an error.
func (c *Client) FiringAlerts(ctx context.Context, severity string) ([]Alert, error) {
	if severity == "" {
		return nil, errors.New("ask for firing alerts: the severity is empty, name one, e.g. critical")
	}
	value, warnings, err := c.ask(ctx, `ALERTS{alertstate="firing",severity=`+strconv.Quote(severity)+`}`)
	if err == nil && len(warnings) > 0 {
		err = &PartialError{Warnings: warnings}
	}
	if err != nil {
		return nil, fmt.Errorf("ask for firing alerts: %w", err)
	}
	vector, ok := value.(model.Vector)
	if !ok {
		return nil, fmt.Errorf("ask for firing alerts: the answer is a %s, not a vector: see whether it is Prometheus that answers", value.Type())
	}
	sortVector(vector)
	alerts := make([]Alert, 0, len(vector))
	for _, s := range vector {
		labels := labelsOf(s.Metric)
		delete(labels, model.MetricNameLabel) // these two are of the series ALERTS, not of the alert
		delete(labels, labelState)
		alerts = append(alerts, Alert{Name: labels[model.AlertNameLabel], Namespace: labels[labelNamespace], Severity: labels[labelSeverity], Labels: labels})
	}
	slices.SortStableFunc(alerts, func(a, b Alert) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	return alerts, nil
}
