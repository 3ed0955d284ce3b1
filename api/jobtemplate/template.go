// Package jobtemplate is the template of a Job inside another kind.
//
// +kubebuilder:object:generate=true
package jobtemplate

import (
	"encoding/json"

	batchv1 "k8s.io/api/batch/v1"
)

// Template is a JobTemplateSpec that can be read whatever is in it. The schema of the API server knows less than Kubernetes' types do: a
// quantity of 1e1.5 passes it, and must not make every object of the kind unreadable.
type Template struct {
	batchv1.JobTemplateSpec `json:",inline"`
	// Problem is why the template cannot be read; empty where it could.
	Problem string `json:"-"`
	// Raw is what was read where it could not be understood.
	Raw []byte `json:"-"`
}

// UnmarshalJSON reads a template. What it cannot understand it keeps, with the reason.
func (t *Template) UnmarshalJSON(data []byte) error {
	*t = Template{}
	if err := json.Unmarshal(data, &t.JobTemplateSpec); err != nil {
		*t = Template{Problem: err.Error(), Raw: append([]byte(nil), data...)}
	}
	return nil
}

// MarshalJSON writes what was read.
func (t Template) MarshalJSON() ([]byte, error) {
	if t.Problem != "" {
		return t.Raw, nil
	}
	return json.Marshal(t.JobTemplateSpec)
}
