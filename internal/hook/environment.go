package hook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// Event is what a hook is told of the moment that it runs at. Name, Time, Reason and Message are always there.
type Event struct {
	Name    v1beta1.HookEvent `json:"name"`
	Time    string            `json:"time"`
	Reason  string            `json:"reason"`
	Message string            `json:"message"`
	// Pool is the machine config pool of MachineConfigPoolUnpause.
	Pool string `json:"pool,omitempty"`
	// Disruptive says that some hook of the job is.
	Disruptive bool `json:"-"`
}

// meta is what a hook is told of itself.
type meta struct {
	Hook        string `json:"hook"`
	Namespace   string `json:"namespace"`
	TrackingKey string `json:"trackingKey,omitempty"`
	Disruptive  bool   `json:"disruptive"`
	// MatchesDisruptiveHooks is what the existing controller tells: the job has a disruptive hook.
	MatchesDisruptiveHooks bool     `json:"matchesDisruptiveHooks"`
	Events                 []string `json:"events"`
}

// largest is how much text the environment may hold in all: beyond it the kernel would start no program.
const largest = 512 << 10

// largestValue is how long one value may be: the kernel takes no longer one (MAX_ARG_STRLEN, 128 KiB).
const largestValue = 100 << 10

// environment is EVENT, JOB and META as JSON, and each of their fields by its path, as JSON too (seed: openshift-upgrade-controller).
// EVENT_NAME, EVENT_TIME, EVENT_REASON and EVENT_MESSAGE are there as well, as the seed's example asks for the first.
func environment(h *v1beta1.UpgradeJobHook, job *v1beta1.UpgradeJob, e Event) ([]corev1.EnvVar, error) {
	job = job.DeepCopy()
	job.ManagedFields = nil
	job.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("UpgradeJob"))
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(job)
	if err != nil {
		return nil, fmt.Errorf("write UpgradeJob %s as JSON: %w", job.Name, err)
	}
	about := meta{Hook: h.Name, Namespace: h.Namespace, TrackingKey: e.Pool, Disruptive: h.Spec.Disruptive, MatchesDisruptiveHooks: e.Disruptive || h.Spec.Disruptive}
	for _, name := range h.Spec.Events {
		about.Events = append(about.Events, string(name))
	}
	values := map[string]string{}
	for prefix, value := range map[string]any{"EVENT": e, "JOB": object, "META": about} {
		if err := flatten(values, prefix, value); err != nil {
			return nil, err
		}
	}
	for _, field := range []string{"name", "time", "reason", "message"} {
		values["EVENT_"+strings.ToUpper(field)] = values["EVENT_"+field]
	}
	return list(values), nil
}

// list is the variables by name; the longest are left out where all would be too much for the kernel.
func list(values map[string]string) []corev1.EnvVar {
	size := 0
	for name, value := range values {
		if len(value) > largestValue {
			delete(values, name)
			continue
		}
		size += len(name) + len(value)
	}
	for size > largest {
		longest := ""
		for name, value := range values {
			if len(value) > len(values[longest]) {
				longest = name
			}
		}
		size -= len(longest) + len(values[longest])
		delete(values, longest)
	}
	var out []corev1.EnvVar
	for _, name := range slices.Sorted(maps.Keys(values)) {
		// The kubelet reads $(NAME) in a value as another variable; $$ is a dollar.
		out = append(out, corev1.EnvVar{Name: name, Value: strings.ReplaceAll(values[name], "$", "$$")})
	}
	return out
}

// flatten writes a value and, below it, each of its fields, under its path.
func flatten(into map[string]string, path string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write %s as JSON: %w", path, err)
	}
	into[path] = string(data)
	var below any
	if err := json.Unmarshal(data, &below); err != nil {
		return err
	}
	return flattenBelow(into, path, below)
}

func flattenBelow(into map[string]string, path string, value any) error {
	var err error
	next := func(key string, below any) {
		if err == nil {
			name := path + "_" + variable(key)
			var data []byte
			if data, err = json.Marshal(below); err == nil {
				into[name] = string(data)
				err = flattenBelow(into, name, below)
			}
		}
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			next(key, value[key])
		}
	case []any:
		for i, below := range value {
			next(strconv.Itoa(i), below)
		}
	}
	return err
}

// variable is a key as it can stand in the name of a variable: every character outside [A-Za-z0-9_] becomes _.
func variable(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, key)
}
