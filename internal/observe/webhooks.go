package observe

import (
	"context"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/internal/snapshot"
)

// request is something that an upgrade, or the cluster while it goes on, has to ask the API server for.
type request struct {
	words, group, version, resource string
	operation                       admissionv1.OperationType
}

var requests = []request{
	{"create pods", "", "v1", "pods", admissionv1.Create},
	{"delete pods", "", "v1", "pods", admissionv1.Delete},
	{"evict pods", "", "v1", "pods/eviction", admissionv1.Create},
	{"bind pods", "", "v1", "pods/binding", admissionv1.Create},
	{"update nodes", "", "v1", "nodes", admissionv1.Update},
	{"update the status of nodes", "", "v1", "nodes/status", admissionv1.Update},
	{"update leases", "coordination.k8s.io", "v1", "leases", admissionv1.Update},
}

// listWebhooks reads the admission webhooks that are called for such requests.
func listWebhooks(ctx context.Context, r client.Reader) ([]snapshot.Webhook, error) {
	var validating admissionv1.ValidatingWebhookConfigurationList
	if err := r.List(ctx, &validating); err != nil {
		return nil, fmt.Errorf("list validating webhooks: %w", err)
	}
	var mutating admissionv1.MutatingWebhookConfigurationList
	if err := r.List(ctx, &mutating); err != nil {
		return nil, fmt.Errorf("list mutating webhooks: %w", err)
	}
	var out []snapshot.Webhook
	for _, c := range validating.Items {
		for _, w := range c.Webhooks {
			out = append(out, webhook("ValidatingWebhookConfiguration/"+c.Name, w.Name, w.FailurePolicy, w.ClientConfig, w.Rules))
		}
	}
	for _, c := range mutating.Items {
		for _, w := range c.Webhooks {
			out = append(out, webhook("MutatingWebhookConfiguration/"+c.Name, w.Name, w.FailurePolicy, w.ClientConfig, w.Rules))
		}
	}
	out = slices.DeleteFunc(out, func(w snapshot.Webhook) bool { return len(w.Matches) == 0 })
	for i := range out {
		if err := countEndpoints(ctx, r, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func webhook(configuration, name string, policy *admissionv1.FailurePolicyType, c admissionv1.WebhookClientConfig, rules []admissionv1.RuleWithOperations) snapshot.Webhook {
	w := snapshot.Webhook{Configuration: configuration, Name: name, FailClosed: policy == nil || *policy == admissionv1.Fail}
	if c.Service != nil {
		w.Service = c.Service.Namespace + "/" + c.Service.Name
	}
	if c.URL != nil {
		w.URL = *c.URL
	}
	for _, r := range requests {
		if slices.ContainsFunc(rules, r.matches) {
			w.Matches = append(w.Matches, r.words)
		}
	}
	return w
}

func (r request) matches(rule admissionv1.RuleWithOperations) bool {
	return anyOf(rule.Operations, r.operation, admissionv1.OperationAll) && anyOf(rule.APIGroups, r.group, "*") &&
		anyOf(rule.APIVersions, r.version, "*") && slices.ContainsFunc(rule.Resources, func(pattern string) bool { return resourceMatches(pattern, r.resource) })
}

func anyOf[T comparable](list []T, wanted, all T) bool {
	return slices.Contains(list, wanted) || slices.Contains(list, all)
}

// resourceMatches follows the API's rules: "pods", "pods/*", "*/eviction", "*" for all resources and "*/*" for subresources too.
func resourceMatches(pattern, resource string) bool {
	patternName, patternSub := split(pattern)
	name, sub := split(resource)
	return (patternName == "*" || patternName == name) && (patternSub == sub || patternSub == "*")
}

func split(resource string) (name, sub string) {
	for i := range resource {
		if resource[i] == '/' {
			return resource[:i], resource[i+1:]
		}
	}
	return resource, ""
}

func countEndpoints(ctx context.Context, r client.Reader, w *snapshot.Webhook) error {
	if w.Service == "" {
		return nil
	}
	namespace, name := split(w.Service)
	var slicesOf discoveryv1.EndpointSliceList
	err := r.List(ctx, &slicesOf, client.InNamespace(namespace), client.MatchingLabels{discoveryv1.LabelServiceName: name})
	if err != nil {
		return fmt.Errorf("list the endpoints of service %s: %w", w.Service, err)
	}
	ready := map[string]bool{}
	for _, s := range slicesOf.Items {
		for _, e := range s.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				for _, a := range e.Addresses {
					ready[a] = true
				}
			}
		}
	}
	w.ReadyEndpoints = len(ready)
	return nil
}
