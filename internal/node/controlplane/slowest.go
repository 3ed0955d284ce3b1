package controlplane

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"refit.dev/refit/internal/node/kubeapi"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
)

// latencies counts the requests that an API server has answered, by the bucket of the time that they took. Watches and other
// requests that last on purpose are left out.
type latencies struct {
	// Process is when the API server's process began, in seconds; another process counts from nothing.
	Process float64 `json:"process"`
	// Within counts the requests that took at most so many seconds ("+Inf" for all).
	Within map[string]float64 `json:"within"`
}

const (
	durationMetric = "apiserver_request_duration_seconds_bucket{"
	processMetric  = "process_start_time_seconds "
)

// lasting are the verbs of requests that last on purpose.
var lasting = []string{`verb="WATCH"`, `verb="WATCHLIST"`, `verb="CONNECT"`}

func readLatencies(metrics io.Reader) (latencies, error) {
	l := latencies{Within: map[string]float64{}}
	lines := bufio.NewScanner(metrics)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if value, ok := strings.CutPrefix(line, processMetric); ok {
			l.Process, _ = strconv.ParseFloat(value, 64)
		}
		labels, ok := strings.CutPrefix(line, durationMetric)
		if !ok || containsAny(labels, lasting) {
			continue
		}
		end := strings.LastIndex(labels, "} ")
		_, le, ok := strings.Cut(labels, `le="`)
		if !ok || end < 0 {
			continue
		}
		le, _, _ = strings.Cut(le, `"`)
		count, err := strconv.ParseFloat(strings.Fields(labels[end+2:])[0], 64)
		if err != nil {
			return l, fmt.Errorf("metric %s…: %w", labels[:min(len(labels), 60)], err)
		}
		l.Within[le] += count
	}
	if err := lines.Err(); err != nil {
		return l, fmt.Errorf("read the API server's metrics: %w", err)
	}
	if len(l.Within) == 0 {
		return l, fmt.Errorf("the API server's metrics do not tell how long requests take")
	}
	return l, nil
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// slowest is an upper bound of how long the slowest request took since an earlier count; ok is false where a request took longer
// than the highest bucket.
func (l latencies) slowest(since latencies) (bound time.Duration, ok bool) {
	if l.Process != since.Process {
		since = latencies{}
	}
	counted := func(le string) float64 { return l.Within[le] - since.Within[le] }
	all, best := counted("+Inf"), -1.0
	for le := range l.Within {
		seconds, err := strconv.ParseFloat(le, 64)
		if le == "+Inf" || err != nil || counted(le) < all {
			continue
		}
		if best < 0 || seconds < best {
			best = seconds
		}
	}
	return time.Duration(best * float64(time.Second)), best >= 0
}

const latenciesFile = "api-latencies.json"

// NoteLatencies keeps how long the local API server's requests took until now, so that at its end those can be told apart that came
// after. What was noted before, in the same upgrade, stays.
func NoteLatencies(ctx context.Context, t *task.Task) error {
	file := t.State(latenciesFile)
	if ok, err := t.Exists(file); err != nil || ok {
		return err
	}
	folder, err := staticpod.Folder(t)
	if err != nil {
		return err
	}
	endpoint, err := staticpod.Endpoint(t, folder)
	if err != nil {
		return err
	}
	api, err := localAPI(t, endpoint)
	if err != nil {
		return err
	}
	now, err := askLatencies(ctx, api)
	if err != nil {
		return err
	}
	content, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if err := t.MakeFolder(path.Dir(file)); err != nil {
		return err
	}
	return t.Replacer().Content(content, t.Path(file), "", 0o600)
}

func askLatencies(ctx context.Context, api *kubeapi.Client) (latencies, error) {
	body, err := api.Stream(ctx, "/metrics")
	if err != nil {
		return latencies{}, err
	}
	defer body.Close()
	return readLatencies(body)
}

const (
	// shortestTail is how long the API server's last requests are given at least. Clients of HTTP/2 are told to go away, and
	// have a second for it.
	shortestTail = 2 * time.Second
	// tailFactor is how many times as long as the slowest request of late.
	tailFactor = 2
)

// tail is how long the requests that an API server has begun are given once it takes no new ones, and why.
func tail(ctx context.Context, t *task.Task, api *kubeapi.Client, grace time.Duration) (time.Duration, string) {
	now, err := askLatencies(ctx, api)
	if err != nil {
		return grace, fmt.Sprintf("how long its requests take is not known (%v)", err)
	}
	var noted latencies
	if content, err := os.ReadFile(t.Path(t.State(latenciesFile))); err == nil {
		if err := json.Unmarshal(content, &noted); err != nil {
			noted = latencies{}
		}
	}
	slowest, ok := now.slowest(noted)
	if !ok {
		return grace, "it has had a very slow request"
	}
	return min(max(tailFactor*slowest, shortestTail), grace), fmt.Sprintf("its slowest request of late took at most %s", slowest)
}
