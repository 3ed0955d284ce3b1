package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/cli/print"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
)

// forecast is what an upgrade would do.
type forecast struct {
	rollout.PlanReport
	// Unseen are the gates of which only the manager can say whether they are open.
	Unseen []string `json:"unseen,omitempty"`

	// plan is the one that it goes by.
	plan v1alpha1.RolloutPlanSpec
}

// forecast plays an upgrade forward, by the functions that the manager decides with. The error is for what makes the
// upgrade impossible; closed gates are in the forecast.
func (a *app) forecast(ctx context.Context, c client.Client, to, plan string, excluded []string) (*forecast, error) {
	seen, err := a.observation(ctx, c)
	if err != nil {
		return nil, err
	}
	return forecastOf(seen, to, plan, excluded)
}

// forecastOf is the forecast for a cluster that was looked at.
func forecastOf(seen *snapshot.Cluster, to, plan string, excluded []string) (*forecast, error) {
	f := &forecast{PlanReport: rollout.Preview(seen, rollout.PreviewRequest{To: to, Plan: plan, Excluded: excluded,
		Durations: durationsOf(seen.NodeUpgrades)})}
	if f.Err != nil {
		return nil, f.Err
	}
	if f.Refused != "" {
		return nil, errors.New(f.Refused)
	}
	f.plan, _ = rollout.PlanOf(seen, plan) // it exists: it was not refused
	f.Unseen = markUnseen(seen, f.Gates)
	f.Blocked = held(f.Gates, f.Unseen)
	return f, nil
}

// summary is the forecast in a line.
func (f *forecast) summary() string {
	nodes := plural(len(f.Nodes), "node")
	if n := len(f.Left); n > 0 { // the estimate is without them
		nodes += fmt.Sprintf(", %d left as now", n)
	}
	return fmt.Sprintf("%s → %s, %s, about %s", f.From, strings.Join(f.Hops, " → "), nodes, print.Duration(f.Estimate))
}

func (f *forecast) question() string {
	return "Upgrade " + f.summary() + "?"
}

// refuseBlocked says what is in the way, where something is.
func (a *app) refuseBlocked(f *forecast) error {
	if len(f.Blocked) == 0 {
		return nil
	}
	return exitWith(ExitBlocked, "nothing was started, gates are closed:\n  %s\nPut that right, or exclude a gate with --exclude-gate NAME",
		strings.Join(f.Blocked, "\n  "))
}

// checkGateNames refuses names that are no gate's.
func checkGateNames(names []string) error {
	for _, name := range gate.UnknownNames(names) {
		return usageError(fmt.Errorf("there is no gate %q%s; gates are %s", name, suggest(name, gate.Names()), strings.Join(gate.Names(), ", ")))
	}
	return nil
}
