package v1beta1

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// PoolSelector selects machine config pools by labels, as the seed writes it (`matchLabels: {name: x}`), or by a label selector, as the
// existing controller takes it (`matchLabels: {matchLabels: {name: x}}`).
// +kubebuilder:pruning:PreserveUnknownFields
type PoolSelector struct {
	// matchLabels as in a label selector.
	// +optional
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// matchExpressions as in a label selector.
	// +optional
	MatchExpressions []metav1.LabelSelectorRequirement `json:"matchExpressions,omitempty"`

	// Labels are what is written beside matchLabels and matchExpressions.
	Labels map[string]string `json:"-"`
	// Wrong are what cannot be understood, by name, as it is written: such as a label whose value is no text. An object that is stored must
	// always be readable, and a copy of it must not select more.
	Wrong map[string]json.RawMessage `json:"-"`
}

// UnmarshalJSON reads either spelling.
func (s *PoolSelector) UnmarshalJSON(data []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*s = PoolSelector{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		var err error
		switch key {
		case "matchLabels":
			err = json.Unmarshal(all[key], &s.MatchLabels)
		case "matchExpressions":
			err = json.Unmarshal(all[key], &s.MatchExpressions)
		default:
			var value string
			if err = json.Unmarshal(all[key], &value); err == nil {
				if s.Labels == nil {
					s.Labels = map[string]string{}
				}
				s.Labels[key] = value
			}
		}
		if err != nil {
			if s.Wrong == nil {
				s.Wrong = map[string]json.RawMessage{}
			}
			s.Wrong[key] = all[key]
		}
	}
	return nil
}

// MarshalJSON writes the spelling that was read.
func (s PoolSelector) MarshalJSON() ([]byte, error) {
	all := map[string]any{}
	for key, value := range s.Labels {
		all[key] = value
	}
	if s.MatchLabels != nil {
		all["matchLabels"] = s.MatchLabels
	}
	if s.MatchExpressions != nil {
		all["matchExpressions"] = s.MatchExpressions
	}
	for key, value := range s.Wrong {
		all[key] = value
	}
	return json.Marshal(all)
}

// Selector is what the pools' labels are held against: nothing for nil, everything for an empty one.
func (s *PoolSelector) Selector() (labels.Selector, error) {
	if s == nil {
		return labels.Nothing(), nil
	}
	if len(s.Wrong) > 0 {
		return labels.Nothing(), fmt.Errorf("matchLabels: the values of %s must be text: put them in quotes", strings.Join(slices.Sorted(maps.Keys(s.Wrong)), ", "))
	}
	all := maps.Clone(s.Labels)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, s.MatchLabels)
	selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchLabels: all, MatchExpressions: s.MatchExpressions})
	if err != nil {
		return labels.Nothing(), fmt.Errorf("matchLabels: %w", err)
	}
	return selector, nil
}
