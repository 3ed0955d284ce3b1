package v1beta1

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/labels"
)

func TestPoolsAreSelectedInEitherSpelling(t *testing.T) {
	for _, tt := range []struct {
		text    string
		night   bool
		other   bool
		problem bool
	}{
		{`{"name":"night"}`, true, false, false},
		{`{"matchLabels":{"name":"night"}}`, true, false, false},
		{`{"matchExpressions":[{"key":"name","operator":"In","values":["night"]}]}`, true, false, false},
		{`{}`, true, true, false},
		{`{"name":5}`, false, false, true},
		{`{"name":5,"tier":"x"}`, false, false, true},
		{`{"matchLabels":7}`, false, false, true},
	} {
		t.Run(tt.text, func(t *testing.T) {
			g := NewWithT(t)
			var first, copied PoolSelector
			g.Expect(json.Unmarshal([]byte(tt.text), &first)).To(Succeed(), "what is stored can be read")
			data, err := json.Marshal(first)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(data).To(MatchJSON(tt.text))
			g.Expect(json.Unmarshal(data, &copied)).To(Succeed())
			for _, s := range []*PoolSelector{&first, copied.DeepCopy()} {
				selector, err := s.Selector()
				g.Expect(err != nil).To(Equal(tt.problem), "%v", err)
				g.Expect(selector.Matches(labels.Set{"name": "night"})).To(Equal(tt.night))
				g.Expect(selector.Matches(labels.Set{"name": "other"})).To(Equal(tt.other))
			}
		})
	}
	g := NewWithT(t)
	none, err := (*PoolSelector)(nil).Selector()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(none.Matches(labels.Set{"name": "night"})).To(BeFalse())
}
