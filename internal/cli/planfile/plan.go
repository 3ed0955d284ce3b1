package planfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"

	"refit.dev/refit/api/v1alpha1"
)

// planKind is what a plan's manifest says it is.
const planKind = "RolloutPlan"

// Plan reads the one RolloutPlan of a file, and names the other objects, which are passed over. The error names the field.
func Plan(data []byte) (plan *v1alpha1.RolloutPlan, passedOver []string, err error) {
	err = each(data, func(h head, object []byte) error {
		if h.Kind != planKind {
			passedOver = append(passedOver, h.String())
			return nil
		}
		if plan != nil {
			return fmt.Errorf("there are two RolloutPlans, %s and %s: leave one in the file", plan.Name, h.Metadata.Name)
		}
		plan, err = decodePlan(h, object)
		if err != nil {
			return fmt.Errorf("%s: %w", h, err)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, nil, err
	case plan == nil:
		return nil, nil, errors.New("there is no RolloutPlan in it: name a file that holds one")
	}
	return plan, passedOver, nil
}

func decodePlan(h head, object []byte) (*v1alpha1.RolloutPlan, error) {
	if want := v1alpha1.GroupVersion.String(); h.APIVersion != want {
		return nil, fmt.Errorf("apiVersion is %q: write %s", h.APIVersion, want)
	}
	if h.Metadata.Name == "" {
		return nil, errors.New("metadata.name is missing: give the plan a name")
	}
	var content map[string]any
	if err := json.Unmarshal(object, &content); err != nil {
		return nil, err
	}
	if err := checkTimes("spec", content["spec"]); err != nil {
		return nil, err
	}
	plan := &v1alpha1.RolloutPlan{}
	if err := strictly(object, plan); err != nil {
		return nil, wrongField(err)
	}
	if err := checkTemplates(plan, content); err != nil {
		return nil, err
	}
	return plan, check(&plan.Spec)
}

// strictly reads a plan; a field that there is not is an error, which names it with its path.
func strictly(object []byte, plan *v1alpha1.RolloutPlan) error {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return fmt.Errorf("register the kinds: %w", err)
	}
	_, _, err := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer().Decode(object, nil, plan)
	return err
}

// checkTemplates reads the Jobs' templates as strictly as the rest: their own type takes whatever it is given.
func checkTemplates(plan *v1alpha1.RolloutPlan, content map[string]any) error {
	spec, _ := content["spec"].(map[string]any)
	groups, _ := spec["groups"].([]any)
	for i := range groups {
		group, _ := groups[i].(map[string]any)
		verify, _ := group["verify"].(map[string]any)
		if verify == nil {
			continue
		}
		field := fmt.Sprintf("spec.groups[%d].verify.template", i)
		if verify["template"] == nil {
			return fmt.Errorf("%s is missing: write the Job that verifies group %s there", field, plan.Spec.Groups[i].Name)
		}
		template, err := json.Marshal(verify["template"])
		if err != nil {
			return err
		}
		if err := yaml.UnmarshalStrict(template, &batchv1.JobTemplateSpec{}); err != nil {
			return fmt.Errorf("%s: %w", field, wrongField(err))
		}
	}
	return nil
}

// wrongField says which field of a manifest is wrong, and what to do about it.
func wrongField(err error) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return fmt.Errorf("%s is a %s, not a %s: correct it", strings.ReplaceAll(mismatch.Field, ".NodeSet.", "."), mismatch.Value, mismatch.Type)
	}
	text := strings.TrimPrefix(err.Error(), "error unmarshaling JSON: while decoding JSON: ")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "strict decoding error: "), "json: ")
	if strings.Contains(text, "unknown field") {
		return fmt.Errorf("%s: correct the name or remove it; `kubectl explain rolloutplan --recursive` lists the fields", text)
	}
	return errors.New(text)
}
