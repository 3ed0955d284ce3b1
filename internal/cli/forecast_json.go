package cli

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/internal/rollout"
)

// forecastOutput is a forecast as programs read it: times as Kubernetes writes them, e.g. "1m30s".
type forecastOutput struct {
	*forecast
	Steps    []stepOutput    `json:"steps"`
	Estimate metav1.Duration `json:"estimate"`
}

type stepOutput struct {
	rollout.PlanStep
	After metav1.Duration `json:"after"`
	Takes metav1.Duration `json:"takes"`
}

func (f *forecast) output() forecastOutput {
	out := forecastOutput{forecast: f, Steps: []stepOutput{}, Estimate: metav1.Duration{Duration: f.Estimate}}
	for _, s := range f.Steps {
		out.Steps = append(out.Steps, stepOutput{PlanStep: s, After: metav1.Duration{Duration: s.After}, Takes: metav1.Duration{Duration: s.Takes}})
	}
	return out
}
