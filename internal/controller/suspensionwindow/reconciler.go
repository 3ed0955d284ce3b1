package suspensionwindow

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

const (
	// staleAfter is when to look again after somebody else wrote first.
	staleAfter = 200 * time.Millisecond
	// longest is how long nothing is looked at before a window begins or ends: timers know nothing of a clock that was set.
	longest = 5 * time.Minute
	timeout = time.Minute
	// maxNote is how many bytes of a selector's problem are told; an event takes no more than 1024.
	maxNote = 900
)

// The reasons of events.
const (
	ReasonBegan           = "SuspensionBegan"
	ReasonEnded           = "SuspensionEnded"
	ReasonInvalidSelector = "InvalidSelector"
)

// Reconciler looks at one window at a time, and never at two at once.
type Reconciler struct {
	Client   client.Client
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	// seen is what the last look at each window saw.
	seen map[client.ObjectKey]memory
}

// Reconcile writes whom the window holds, where that changed, and tells what happened since the last look.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w v1beta1.UpgradeSuspensionWindow
	err := r.Client.Get(ctx, req.NamespacedName, &w)
	if apierrors.IsNotFound(err) || err == nil && w.DeletionTimestamp != nil {
		delete(r.seen, req.NamespacedName)
		return ctrl.Result{}, nil
	} else if err != nil {
		return ctrl.Result{}, fmt.Errorf("read UpgradeSuspensionWindow %s: %w", req.NamespacedName, err)
	}
	var configs v1beta1.UpgradeConfigList
	if err := r.Client.List(ctx, &configs, client.InNamespace(w.Namespace)); err != nil {
		return ctrl.Result{}, fmt.Errorf("list UpgradeConfigs: %w", err)
	}
	var jobs v1beta1.UpgradeJobList
	if err := r.Client.List(ctx, &jobs, client.InNamespace(w.Namespace)); err != nil {
		return ctrl.Result{}, fmt.Errorf("list UpgradeJobs: %w", err)
	}
	status, problems := matching(&w, configs.Items, jobs.Items)
	if !equality.Semantic.DeepEqual(w.Status, status) {
		w.Status = status
		switch err := r.Client.Status().Update(ctx, &w); {
		case apierrors.IsConflict(err):
			return ctrl.Result{RequeueAfter: staleAfter}, nil
		case apierrors.IsNotFound(err):
			delete(r.seen, req.NamespacedName)
			return ctrl.Result{}, nil
		case err != nil:
			return ctrl.Result{}, fmt.Errorf("write the status of UpgradeSuspensionWindow %s: %w", req.NamespacedName, err)
		}
	}
	now := r.Clock.Now()
	r.announce(&w, now, strings.Join(problems, "; "))
	_, change := phaseOf(&w, now)
	return ctrl.Result{RequeueAfter: min(change, longest)}, nil
}

// announce tells what is news, and remembers it.
func (r *Reconciler) announce(w *v1beta1.UpgradeSuspensionWindow, now time.Time, problem string) {
	if r.seen == nil {
		r.seen = map[client.ObjectKey]memory{}
	}
	key := client.ObjectKeyFromObject(w)
	var last *memory
	if m, ok := r.seen[key]; ok && m.uid == w.UID {
		last = &m
	}
	began, ended := passed(last, w, now)
	if began {
		r.Recorder.Eventf(w, nil, corev1.EventTypeNormal, ReasonBegan, "Suspend", "Holds %s until %s%s", count(w.Status), w.Spec.End.UTC().Format(time.RFC3339), because(w.Spec.Reason))
	}
	if ended {
		r.Recorder.Eventf(w, nil, corev1.EventTypeNormal, ReasonEnded, "Suspend", "Holds nothing any more")
	}
	if problem != "" && (last == nil || last.told != problem) {
		r.Recorder.Eventf(w, nil, corev1.EventTypeWarning, ReasonInvalidSelector, "Match", "%s", short(problem))
	}
	is, _ := phaseOf(w, now)
	r.seen[key] = memory{uid: w.UID, generation: w.Generation, phase: is, told: problem}
}

func count(s v1beta1.UpgradeSuspensionWindowStatus) string {
	return fmt.Sprintf("%d UpgradeConfigs and %d UpgradeJobs", len(s.MatchingConfigs), len(s.MatchingJobs))
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + short(reason)
}

func short(text string) string {
	if len(text) <= maxNote {
		return text
	}
	return strings.ToValidUTF8(text[:maxNote], "") + "…"
}
