package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"text/template"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/spec"
)

//go:embed stages.tmpl.yaml
var stagesText string

// What a step does to the cluster, as steps of a kwok stage.
const (
	effectCordon = `    - apply:
        type: merge
        template: |
          {apiVersion: v1, kind: Node, metadata: {name: {{ .spec.nodeName }}, annotations: {refit.dev/cordoned-by: {{ (index .metadata.ownerReferences 0).uid | Quote }}}}, spec: {unschedulable: true}}
`
	effectUncordon = `    - apply:
        type: merge
        template: |
          {apiVersion: v1, kind: Node, metadata: {name: {{ .spec.nodeName }}, annotations: {refit.dev/cordoned-by: null}}, spec: {unschedulable: null}}
`
	effectKubelet = `    - apply:
        type: merge
        subresource: status
        template: |
          {apiVersion: v1, kind: Node, metadata: {name: {{ .spec.nodeName }}}, status: {nodeInfo: {kubeletVersion: {{ index .metadata.labels "refit.dev/version" }}}}}
`
	effectStaticPod = `    - apply:
        type: strategic
        template: |
          {apiVersion: v1, kind: Pod, metadata: {namespace: kube-system, name: %[1]s-{{ .spec.nodeName }}}, spec: {nodeName: {{ .spec.nodeName }}, containers: [{name: %[1]s, image: "registry.k8s.io/%[1]s:{{ index .metadata.labels "refit.dev/version" }}"}]}}
`
	effectKubeadm = `    - apply:
        type: merge
        template: |
          {apiVersion: v1, kind: ConfigMap, metadata: {namespace: kube-system, name: kubeadm-config}, data: {ClusterConfiguration: {{ index .metadata.labels "refit.dev/version" | printf "kubernetesVersion: %s\n" | Quote }}}}
`
)

// What stages look at, in jq.
const (
	keyBegun    = ".status.initContainerStatuses | length"
	keyRunning  = ".status.initContainerStatuses[-1].name"
	keySteps    = ".spec.initContainers | length"
	keyNode     = ".spec.nodeName"
	keyFirstTry = `.spec.initContainers[0].env[0].value | contains("\"attempt\":1}")`
)

// stage is what happens to the Pods of a role at one moment.
type stage struct {
	Name, Role string
	Matches    []match
	// Delay in milliseconds at least, Until at most: it is somewhere between.
	Delay, Until int64
	Effects      string
	// Code is the exit code of the step that ends; nothing follows a step that failed.
	Code spec.ExitCode
	// Weight decides where several stages fit: one with a weight goes before those without.
	Weight int
}

// match is a condition on a Pod.
type match struct{ Key, Operator, Values string }

func in(key string, values ...string) match    { return match{key, "In", list(values)} }
func notIn(key string, values ...string) match { return match{key, "NotIn", list(values)} }

func list(values []string) string {
	text, err := json.Marshal(values)
	if err != nil { // strings always can be
		return "[]"
	}
	return string(text)
}

// stagesOf is kwok's configuration for a cluster in which those nodes fail once: transient ones with a step that may be tried
// again, broken ones with one that a person must see to.
func stagesOf(s settings, transient, broken []string) ([]byte, error) {
	staging := len(spec.StagingSteps())
	fetch := per(s.stageTime, staging)
	middle := float64(per(s.nodeTime, len(spec.Steps(v1alpha1.NodeTypeWorker))))
	step, until := int64(middle*(1-s.spread/100)), int64(middle*(1+s.spread/100))
	cordon, kubeadm, kubelet, uncordon := string(v1alpha1.StepDrain), string(v1alpha1.StepKubeadm), string(v1alpha1.StepKubelet), string(v1alpha1.StepUncordon)
	master := fmt.Sprint(len(spec.Steps(v1alpha1.NodeTypeControlPlane)))
	version := effectKubeadm
	for _, c := range components {
		version += fmt.Sprintf(effectStaticPod, c)
	}
	stages := []stage{
		{Name: "staging-begins", Role: "stager", Matches: []match{in(keyBegun, "0")}},
		{Name: "staging-goes-on", Role: "stager", Matches: []match{notIn(keyBegun, "0")}, Delay: fetch, Until: fetch},
		{Name: "upgrade-begins", Role: "upgrader", Matches: []match{in(keyBegun, "0")}},
		{Name: "upgrade-goes-on", Role: "upgrader", Matches: []match{notIn(keyBegun, "0"), notIn(keyRunning, cordon, kubeadm, kubelet, uncordon)}, Delay: step, Until: until},
		{Name: "drained", Role: "upgrader", Matches: []match{in(keyRunning, cordon)}, Delay: step, Until: until, Effects: effectCordon},
		{Name: "worker-configured", Role: "upgrader", Matches: []match{in(keyRunning, kubeadm), notIn(keySteps, master)}, Delay: step, Until: until},
		{Name: "control-plane-upgraded", Role: "upgrader", Matches: []match{in(keyRunning, kubeadm), in(keySteps, master)}, Delay: step, Until: until, Effects: version},
		{Name: "kubelet-restarted", Role: "upgrader", Matches: []match{in(keyRunning, kubelet)}, Delay: step, Until: until, Effects: effectKubelet},
		{Name: "uncordoned", Role: "upgrader", Matches: []match{in(keyRunning, uncordon)}, Delay: step, Until: until, Effects: effectUncordon},
	}
	for code, nodes := range map[spec.ExitCode][]string{spec.ExitFailed: transient, spec.ExitRolledBack: broken} {
		if len(nodes) > 0 {
			stages = append(stages, stage{Name: fmt.Sprintf("kubelet-fails-%d", code), Role: "upgrader", Delay: step, Until: until, Code: code, Weight: 1,
				Matches: []match{in(keyRunning, kubelet), in(keyNode, nodes...), in(keyFirstTry, "true")}})
		}
	}
	parsed, err := template.New("stages").Delims("[[", "]]").Parse(stagesText)
	if err != nil {
		return nil, fmt.Errorf("read the stages: %w", err)
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, map[string]any{"From": from, "Stage": s.stageTime.Milliseconds(), "Stages": stages})
	return out.Bytes(), err
}

func per(whole time.Duration, parts int) int64 { return whole.Milliseconds() / int64(parts) }
