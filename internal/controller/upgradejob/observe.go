package upgradejob

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/hook"
	"refit.dev/refit/internal/maintenance"
	"refit.dev/refit/internal/observe"
)

// observe looks at all that a decision on the job rests on.
func (r *Reconciler) observe(ctx context.Context, job *v1beta1.UpgradeJob) (maintenance.Input, error) {
	in := maintenance.Input{Job: job}
	var hooks v1beta1.UpgradeJobHookList
	if err := r.Client.List(ctx, &hooks, client.InNamespace(job.Namespace)); err != nil {
		return in, fmt.Errorf("list UpgradeJobHooks: %w", err)
	}
	in.Hooks = hooks.Items
	var windows v1beta1.UpgradeSuspensionWindowList
	if err := r.Client.List(ctx, &windows, client.InNamespace(job.Namespace)); err != nil {
		return in, fmt.Errorf("list UpgradeSuspensionWindows: %w", err)
	}
	in.Windows = windows.Items
	var err error
	if in.Runs, err = r.runs(ctx, job); err != nil {
		return in, err
	}
	t := r.Targets.For(job.Spec.Config.Target)
	in.Target = t.Observe(ctx, job)
	if stage := maintenance.HealthCheck(job); stage != maintenance.NoCheck && in.Target.Problem == "" {
		check := stage.Check(job)
		seen := observe.Health(ctx, r.Prometheus, check)
		t.Operators(ctx, &seen)
		in.Health = append(gate.Health(check, seen), t.Gates(ctx, job, stage)...)
		in.HealthAsked = true
	}
	in.Now = r.Clock.Now()
	return in, nil
}

// runs are the Jobs of the job's hooks. One that is on record as active, and that the cache does not hold, is looked for in the API server:
// only what is truly gone counts as deleted.
func (r *Reconciler) runs(ctx context.Context, job *v1beta1.UpgradeJob) ([]maintenance.Run, error) {
	var jobs batchv1.JobList
	if err := r.Client.List(ctx, &jobs, client.InNamespace(job.Namespace), client.MatchingLabels{v1beta1.LabelJob: hook.JobLabel(job.Name)}); err != nil {
		return nil, fmt.Errorf("list the Jobs of hooks: %w", err)
	}
	var out []maintenance.Run
	for i := range jobs.Items {
		if metav1.IsControlledBy(&jobs.Items[i], job) {
			out = append(out, hook.Run(&jobs.Items[i]))
		}
	}
	for _, t := range job.Status.HookTracker {
		name := hook.Name(job.Name, t.UpgradeJobHook, t.HookEvent, t.TrackingKey)
		if t.Status != v1beta1.HookActive || slices.ContainsFunc(out, func(r maintenance.Run) bool { return r.Name == name }) {
			continue
		}
		var j batchv1.Job
		err := r.Live.Get(ctx, client.ObjectKey{Namespace: job.Namespace, Name: name}, &j)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read Job %s of hook %s: %w", name, t.UpgradeJobHook, err)
		}
		if err == nil && metav1.IsControlledBy(&j, job) {
			out = append(out, hook.Run(&j))
		}
	}
	return out, nil
}
