package windows

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

// wrongField says which field of a manifest is wrong, and what to do about it.
func wrongField(h head, err error) error {
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		var all []string
		for _, e := range strict.Errors() {
			all = append(all, e.Error())
		}
		return fmt.Errorf("%s: correct the name or remove it; `kubectl explain %s --recursive` lists the fields", strings.Join(all, ", "), strings.ToLower(h.Kind))
	}
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		remedy := ""
		if mismatch.Type.Kind() == reflect.String {
			remedy = ": put it in quotes"
		}
		return fmt.Errorf("%s is a %s, not a %s%s", mismatch.Field, mismatch.Value, mismatch.Type, remedy)
	}
	return err
}

// durations and instants are the fields that hold one, of configs and of windows: what is wrong with one is said without naming it.
var (
	durations = []string{"pinVersionWindow", "maxSchedulingDelay", "maxUpgradeStartDelay", "upgradeTimeout", "timeout", "delayMin", "delayMax", "startAfter", "startBefore"}
	instants  = []string{"start", "end"}
	// named are maps whose keys a person has chosen.
	named = []string{"labels", "annotations", "matchLabels"}
)

// checkTimes says which duration or time of an object cannot be read.
func checkTimes(h head, content any) error {
	object, ok := content.(map[string]any)
	if !ok || h.APIVersion != v1beta1.GroupVersion.String() || h.Kind != "UpgradeConfig" && h.Kind != "UpgradeSuspensionWindow" {
		return nil
	}
	if err := checkTime("spec", h.Kind == "UpgradeSuspensionWindow", object["spec"]); err != nil {
		return fmt.Errorf("%s: %w", h, err)
	}
	return nil
}

func checkTime(path string, window bool, value any) error {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if slices.Contains(named, key) {
				continue
			}
			if text, isText := v[key].(string); isText {
				if err := checkText(path+"."+key, key, window, text); err != nil {
					return err
				}
			}
			if err := checkTime(path+"."+key, window, v[key]); err != nil {
				return err
			}
		}
	case []any:
		for i := range v {
			if err := checkTime(fmt.Sprintf("%s[%d]", path, i), window, v[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkText(path, key string, window bool, text string) error {
	switch {
	case window && slices.Contains(instants, key):
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return fmt.Errorf("%s %q is not a time: write it as 2026-12-20T00:00:00+01:00", path, text)
		}
	case !window && slices.Contains(durations, key):
		if d, err := time.ParseDuration(text); err != nil || d < 0 {
			return fmt.Errorf("%s %q is not a time span: write it as 30m, 4h or 1h30m", path, text)
		}
	}
	return nil
}
