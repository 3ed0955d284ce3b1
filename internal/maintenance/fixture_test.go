package maintenance

import (
	"slices"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/gate"
)

const me = "ops/job"

var begin = time.Date(2026, 12, 1, 21, 0, 0, 0, time.UTC)

func duration(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

func newTestJob() *v1beta1.UpgradeJob {
	return &v1beta1.UpgradeJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "job", UID: "uid-job", Labels: map[string]string{"app": "x"}, Finalizers: []string{v1beta1.FinalizerJob},
			CreationTimestamp: metav1.NewTime(begin.Add(-4 * time.Hour))},
		Spec: v1beta1.UpgradeJobSpec{
			StartAfter: metav1.NewTime(begin), StartBefore: metav1.NewTime(begin.Add(time.Hour)),
			DesiredVersion: &configv1.Update{Version: "4.16.3", Image: "release@sha256:1"},
			Config: v1beta1.UpgradeJobConfig{UpgradeTimeout: duration(2 * time.Hour),
				PreUpgradeHealthChecks:  v1beta1.UpgradeJobHealthCheck{Timeout: duration(30 * time.Minute)},
				PostUpgradeHealthChecks: v1beta1.UpgradeJobHealthCheck{Timeout: duration(30 * time.Minute)}},
		},
	}
}

// world is what a job acts on, without a cluster.
type world struct {
	now     time.Time
	job     *v1beta1.UpgradeJob
	gone    bool
	hooks   []v1beta1.UpgradeJobHook
	runs    []Run
	windows []v1beta1.UpgradeSuspensionWindow
	target  Target
	sick    string
	// installs counts the orders to install; starts the runs of hooks, by name.
	installs int
	starts   map[string]int
}

func newWorld() *world {
	return &world{now: begin, job: newTestJob(), starts: map[string]int{},
		target: Target{Kind: v1beta1.TargetOpenShift, Available: []configv1.Release{{Version: "4.16.3", Image: "release@sha256:1"}},
			Pools: []Pool{{Name: "master", Updated: true}, {Name: "night", Labels: map[string]string{"name": "night"}, Updated: true}, {Name: "worker", Updated: true}}}}
}

func (w *world) pool(name string) *Pool {
	i := slices.IndexFunc(w.target.Pools, func(p Pool) bool { return p.Name == name })
	return &w.target.Pools[i]
}

func (w *world) addHook(name string, change func(*v1beta1.UpgradeJobHook), events ...v1beta1.HookEvent) {
	h := v1beta1.UpgradeJobHook{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name, CreationTimestamp: metav1.NewTime(w.now.Add(-time.Minute))},
		Spec: v1beta1.UpgradeJobHookSpec{Events: events}}
	if change != nil {
		change(&h)
	}
	w.hooks = append(w.hooks, h)
}

func (w *world) input() Input {
	in := Input{Now: w.now, Job: w.job.DeepCopy(), Hooks: w.hooks, Runs: slices.Clone(w.runs), Windows: w.windows, Target: w.target}
	in.Target.Pools = slices.Clone(w.target.Pools)
	if HealthCheck(w.job) != NoCheck {
		in.HealthAsked = true
		in.Health = []gate.Verdict{{Gate: "test", Level: gate.OK, Message: "fine"}}
		if w.sick != "" {
			in.Health = []gate.Verdict{{Gate: "test", Level: gate.Blocked, Message: w.sick}}
		}
	}
	return in
}

// look makes one reconcile, of whose actions the first n are done; all for -1.
func (w *world) look(n int) Decision {
	d := Decide(w.input())
	w.job.Status = d.Status
	for i, a := range d.Actions {
		if n >= 0 && i >= n {
			break
		}
		w.do(a)
	}
	return d
}

func (w *world) do(a Action) {
	switch a.Kind {
	case Hold:
		w.job.Finalizers = []string{v1beta1.FinalizerJob}
	case LetGo:
		w.job.Finalizers = nil
		w.gone = w.job.DeletionTimestamp != nil
	case Claim:
		for i := range w.hooks {
			if w.hooks[i].Name == a.Hook.Name && w.hooks[i].Status.ClaimedBy == nil {
				w.hooks[i].Status.ClaimedBy = &v1beta1.ClaimReference{Name: "job", UID: w.job.UID}
			}
		}
	case RunHook:
		name := a.Hook.Name + "/" + string(a.Event) + "/" + a.TrackingKey
		if !slices.ContainsFunc(w.runs, func(r Run) bool { return r.Name == name }) {
			w.starts[name]++
			w.runs = append(w.runs, Run{Name: name, Hook: a.Hook.Name, Event: a.Event, TrackingKey: a.TrackingKey, Held: true})
		}
	case FreeRun:
		for i := range w.runs {
			if w.runs[i].Name == a.Run {
				w.runs[i].Held = false
			}
		}
	case Lock:
		if w.target.HeldBy == "" || w.target.HolderEnded {
			w.target.HeldBy, w.target.HolderEnded = me, false
		}
	case Unlock:
		if w.target.HeldBy == me {
			w.target.HeldBy = ""
		}
	case PausePool:
		if p := w.pool(a.Pool); !p.Paused {
			p.Paused, p.PausedBy = true, me
		}
	case UnpausePool:
		if p := w.pool(a.Pool); p.PausedBy == me {
			p.Paused, p.PausedBy = false, ""
		}
	case StopPool:
		if p := w.pool(a.Pool); !p.Paused || p.PausedBy == me {
			p.Paused, p.PausedBy = true, ""
		}
	case Install:
		w.installs++
		w.target.Requested, w.target.Driven = true, true
	case Halt:
		w.target.Driven = false
	}
}

// finishInstall is the target being done, with the pools that are not paused.
func (w *world) finishInstall() {
	w.target.Completed, w.target.Driven = true, false
	for i := range w.target.Pools {
		w.target.Pools[i].Updated = !w.target.Pools[i].Paused
	}
}

// settle looks until nothing changes any more without time passing.
func (w *world) settle() Decision {
	var d Decision
	for range 50 {
		d = w.look(-1)
		if len(d.Actions) == 0 && d.LookAgain != soon {
			return d
		}
	}
	return d
}

// endRuns lets every run end.
func (w *world) endRuns(failed bool) {
	for i := range w.runs {
		if !w.runs[i].Ended {
			w.runs[i].Ended, w.runs[i].Failed = true, failed
		}
	}
}
