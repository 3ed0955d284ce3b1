package planfile

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"refit.dev/refit/internal/version"
)

const planHead = "apiVersion: refit.dev/v1alpha1\nkind: RolloutPlan\nmetadata: {name: p}\nspec: "

func TestWhatTheAPIWouldRefuseIsRefused(t *testing.T) {
	for spec, want := range map[string]string{
		"{maxUnavailable: 0}":                                                               `spec.maxUnavailable is "0": write a number of at least 1, or a percentage from 1% to 100%`,
		"{failureBudget: 101%}":                                                             `spec.failureBudget is "101%": write a number of at least 0, or a percentage from 0% to 100%`,
		"{failureBudget: -1}":                                                               `spec.failureBudget is "-1"`,
		"{stagingParallelism: -1}":                                                          "spec.stagingParallelism is -1",
		"{networking: Sometimes}":                                                           `spec.networking is "Sometimes": write AfterFirstControlPlane or BeforeControlPlanes`,
		"{drain: {mode: Maybe}}":                                                            `spec.drain.mode is "Maybe": write Auto, Always or Never`,
		"{drain: {timeout: 1x}}":                                                            `spec.drain.timeout "1x" is not a time span`,
		"{drain: {onTimeout: Cry}}":                                                         `spec.drain.onTimeout is "Cry"`,
		"{groups: [{name: a}]}":                                                             "spec.groups[0] (a) selects no node: write a selector or nodes",
		"{groups: [{nodes: [x]}]}":                                                          "spec.groups[0].name is missing",
		"{groups: [{name: A, nodes: []}]}":                                                  `spec.groups[0].name "A" is no name`,
		"{groups: [{name: a, nodes: [x], besidePrevious: true}]}":                           "spec.groups[0].besidePrevious: the first group has none before it: remove it",
		"{groups: [{name: a, nodes: [x]}, {name: a, nodes: [z]}]}":                          "spec.groups[1].name a is that of spec.groups[0], too",
		"{groups: [{name: a, nodes: [x], parallelism: 0%}]}":                                `spec.groups[0].parallelism is "0%"`,
		"{groups: [{name: a, nodes: [x], soak: 1 hour}]}":                                   `spec.groups[0].soak "1 hour" is not a time span: write it as 30m, 4h or 1h30m`,
		"{groups: [{name: a, nodes: [x], soak: -1h}]}":                                      `spec.groups[0].soak "-1h"`,
		"{groups: [{name: a, nodes: [x], verify: {}}]}":                                     "spec.groups[0].verify.template is missing",
		"{groups: [{name: a, nodes: [x], verify: {timeout: x, template: {}}}]}":             `spec.groups[0].verify.timeout "x"`,
		"{groups: [{name: a, nodes: [x], verify: {template: {spec: {backofLimit: 1}}}}]}":   `spec.groups[0].verify.template: unknown field "backofLimit"`,
		"{groups: [{name: a, nodes: [x], verify: {template: {spec: {backoffLimit: no}}}}]}": "spec.groups[0].verify.template: spec.backoffLimit is a bool",
		"{groups: {a: b}}":                                                                  "spec.groups is a object",
	} {
		_, _, err := Plan([]byte(planHead + spec))
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)), spec)
	}
	_, _, err := Plan([]byte(planHead + "{}\n---\n" + planHead + "{}"))
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("there are two RolloutPlans, p and p: leave one in the file")))
	_, _, err = Plan([]byte("kind: RolloutPlan\napiVersion: v1"))
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring(`apiVersion is "v1": write refit.dev/v1alpha1`)))
}

func TestEveryVersionCanBeReached(t *testing.T) {
	for _, tt := range []struct {
		name, nodes, to, next string
		hops                  []string
	}{
		{"the next minor", "cp v1.35.4, w v1.35.4", "", "v1.36.0", []string{"v1.36.0"}},
		{"two minors", "cp v1.34.4, w v1.34.4", "v1.36.3", "v1.35.0", []string{"v1.35.0", "v1.36.3"}},
		{"by what runs already", "cp v1.34.4, cp v1.35.2, w v1.34.4", "v1.36.3", "v1.35.0", []string{"v1.35.2", "v1.36.3"}},
		{"back within a minor", "cp v1.36.3, w v1.36.1", "v1.36.0", "v1.37.0", []string{"v1.36.0"}},
		{"a kubelet that is far behind", "cp v1.35.4, w v1.32.1", "v1.36.0", "v1.36.0", []string{"v1.35.4", "v1.36.0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			plan, _, err := Plan([]byte(planHead + "{}"))
			g.Expect(err).NotTo(HaveOccurred())
			nodes, _, ready, err := Nodes([]byte(manifest(tt.nodes)))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(ready).To(HaveLen(len(nodes)))
			c := Cluster(nodes, plan, time.Now())
			to := Next(c)
			g.Expect(to).To(Equal(tt.next))
			if tt.to != "" {
				to = tt.to
			}
			Make(c, to)
			hops, err := version.ForCluster(c, to)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(hops).To(Equal(tt.hops))
		})
	}
}

func TestWhatIsNoNodeIsSaid(t *testing.T) {
	for data, want := range map[string]string{
		"kind: Node\nmetadata: {name: a}": "Node a: status.nodeInfo.kubeletVersion is missing",
		"kind: Node":                      "a Node has no metadata.name",
		"metadata: {name: a}":             "an object lacks kind",
		"[]":                              "this is no Kubernetes object",
		"a: b: c":                         "this is no YAML",
		"# nothing":                       "there is no Node in it",
		manifest("w v1.36.1") + "---\n" + manifest("w v1.36.1"):                 "Node w-1 is there twice: remove one",
		"kind: NodeList\nitems: [{metadata: {name: a}, status: {nodeInfo: 1}}]": "Node a: json: cannot unmarshal",
	} {
		_, _, _, err := Nodes([]byte(data))
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)), data)
	}
}
