package jobtemplate

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
)

func TestATemplateCanBeReadWhateverIsInIt(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		problem    bool
	}{
		{"a good one", `{"metadata":{"labels":{"a":"b"}},"spec":{"template":{"metadata":{},"spec":{"containers":[{"name":"a","image":"b"}]}}},"status":null}`, false},
		{"a quantity that is none", `{"spec":{"template":{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"1e1.5"}}}]}}}}`, true},
		{"a port that is too large", `{"spec":{"template":{"spec":{"containers":[{"name":"a","livenessProbe":{"httpGet":{"port":99999999999}}}]}}}}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			var got Template
			g.Expect(json.Unmarshal([]byte(tt.text), &got)).To(Succeed())
			g.Expect(got.Problem != "").To(Equal(tt.problem), got.Problem)
			again, err := json.Marshal(got)
			g.Expect(err).NotTo(HaveOccurred())
			if tt.problem {
				g.Expect(again).To(MatchJSON(tt.text), "nothing of it is lost")
			} else {
				g.Expect(got.Spec.Template.Spec.Containers).To(HaveLen(1))
			}
		})
	}
}
