package observe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"refit.dev/refit/internal/snapshot"
)

const (
	metricDeprecated = "apiserver_requested_deprecated_apis{"
	metricsTimeout   = 8 * time.Second
	// longestLine bounds a line of metrics; histograms of API servers have long ones.
	longestLine = 1 << 20
)

// probeDeprecatedAPIs asks every API server which deprecated APIs somebody asked it for. One that does not answer is left out as
// long as another does.
func probeDeprecatedAPIs(ctx context.Context, config *rest.Config, pods []corev1.Pod) ([]snapshot.DeprecatedAPI, error) {
	hosts := []string{}
	for _, address := range apiServers(pods) {
		hosts = append(hosts, "https://"+address)
	}
	if len(hosts) == 0 {
		hosts = []string{config.Host}
	}
	found := make([][]snapshot.DeprecatedAPI, len(hosts))
	errs := make([]error, len(hosts))
	var wg sync.WaitGroup
	for i, host := range hosts {
		wg.Go(func() { found[i], errs[i] = deprecatedAt(ctx, config, host) })
	}
	wg.Wait()
	if !slices.Contains(errs, nil) {
		return nil, errors.Join(errs...)
	}
	seen := map[snapshot.DeprecatedAPI]bool{}
	var out []snapshot.DeprecatedAPI
	for _, api := range slices.Concat(found...) {
		if !seen[api] {
			seen[api] = true
			out = append(out, api)
		}
	}
	return out, nil
}

func deprecatedAt(ctx context.Context, config *rest.Config, host string) ([]snapshot.DeprecatedAPI, error) {
	c := rest.CopyConfig(config)
	c.Host, c.APIPath, c.Timeout = host, "/", metricsTimeout
	c.GroupVersion = &schema.GroupVersion{}
	c.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("make a client of API server %s: %w", host, err)
	}
	ctx, cancel := context.WithTimeout(ctx, metricsTimeout)
	defer cancel()
	body, err := client.Get().AbsPath("/metrics").Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the metrics of API server %s: %w", host, err)
	}
	apis, err := parseDeprecated(body)
	return apis, errors.Join(err, body.Close())
}

var metricLabel = regexp.MustCompile(`(\w+)="([^"]*)"`)

// parseDeprecated reads metrics in their text form.
func parseDeprecated(r io.Reader) ([]snapshot.DeprecatedAPI, error) {
	var out []snapshot.DeprecatedAPI
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		line, ok := strings.CutPrefix(lines.Text(), metricDeprecated)
		if !ok || strings.HasSuffix(line, "} 0") {
			continue
		}
		labels := map[string]string{}
		for _, m := range metricLabel.FindAllStringSubmatch(line, -1) {
			labels[m[1]] = m[2]
		}
		out = append(out, snapshot.DeprecatedAPI{Group: labels["group"], Version: labels["version"], Resource: labels["resource"],
			Subresource: labels["subresource"], RemovedRelease: labels["removed_release"]})
	}
	return out, lines.Err()
}
