// Package openshift lets UpgradeJobs upgrade OpenShift: they set spec.desiredUpdate of its ClusterVersion, and pause machine config
// pools. OpenShift's own operators do the rest.
package openshift

import (
	"context"
	"fmt"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/gate"
	"refit.dev/refit/internal/maintenance"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/target"
)

// Name of OpenShift's only ClusterVersion.
const Name = "version"

// Target is OpenShift.
type Target struct {
	// Live reads from the API server: a lock rests on it.
	Live client.Reader
	// Client writes, and reads UpgradeJobs.
	Client client.Client
}

var _ target.Target = &Target{}

// AddToScheme adds OpenShift's kinds.
func AddToScheme(s *runtime.Scheme) error {
	if err := configv1.Install(s); err != nil {
		return err
	}
	return mcfgv1.Install(s)
}

// Served says whether the cluster serves OpenShift's API, and whether its machine config pools.
func Served(m meta.RESTMapper) (versions, pools bool, err error) {
	if versions, err = served(m, configv1.GroupVersion.WithKind("ClusterVersion")); err != nil {
		return false, false, err
	}
	pools, err = served(m, mcfgv1.GroupVersion.WithKind("MachineConfigPool"))
	return versions, pools, err
}

func served(m meta.RESTMapper, kind schema.GroupVersionKind) (bool, error) {
	_, err := m.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil, err
}

// Observe says where OpenShift stands for a job.
func (t *Target) Observe(ctx context.Context, job *v1beta1.UpgradeJob) maintenance.Target {
	seen, err := t.observe(ctx, job)
	if err != nil {
		seen.Problem = fmt.Sprintf("OpenShift could not be seen: %v", err)
	}
	return seen
}

func (t *Target) observe(ctx context.Context, job *v1beta1.UpgradeJob) (maintenance.Target, error) {
	seen := maintenance.Target{Kind: v1beta1.TargetOpenShift}
	var cv configv1.ClusterVersion
	if err := t.Live.Get(ctx, client.ObjectKey{Name: Name}, &cv); err != nil {
		return seen, fmt.Errorf("read ClusterVersion %s: %w", Name, err)
	}
	seen.Available = cv.Status.AvailableUpdates
	if seen.HeldBy = cv.Annotations[v1beta1.AnnotationLock]; seen.HeldBy != "" && seen.HeldBy != maintenance.Name(job) {
		ended, err := target.JobEnded(ctx, t.Live, seen.HeldBy)
		if err != nil {
			return seen, fmt.Errorf("read UpgradeJob %s: %w", seen.HeldBy, err)
		}
		seen.HolderEnded = ended
	}
	if want := job.Spec.DesiredVersion; want != nil {
		seen.Requested = cv.Spec.DesiredUpdate != nil && same(want, cv.Spec.DesiredUpdate.Version, cv.Spec.DesiredUpdate.Image)
		seen.Completed = completed(&cv, want)
		if !seen.Requested && !seen.Completed {
			seen.Busy = busy(&cv)
		}
	}
	seen.Progress = progress(&cv)
	var err error
	seen.Pools, err = t.pools(ctx)
	return seen, err
}

// same says whether a version is the one that is wanted.
func same(want *configv1.Update, version, image string) bool {
	if want.Version != "" && version != "" {
		return want.Version == version
	}
	return want.Image != "" && want.Image == image
}

// completed says whether the wanted version is installed on the control plane (seed: Available is True, and the version matches).
func completed(cv *configv1.ClusterVersion, want *configv1.Update) bool {
	if len(cv.Status.History) == 0 || !same(want, cv.Status.Desired.Version, cv.Status.Desired.Image) {
		return false
	}
	last := cv.Status.History[0]
	return last.State == configv1.CompletedUpdate && same(want, last.Version, last.Image) && isTrue(cv, configv1.OperatorAvailable)
}

// busy says what else is being installed.
func busy(cv *configv1.ClusterVersion) string {
	if len(cv.Status.History) > 0 && cv.Status.History[0].State == configv1.PartialUpdate {
		return fmt.Sprintf("OpenShift is being brought to %s, which is not this job's version", cv.Status.History[0].Version)
	}
	return ""
}

func condition(cv *configv1.ClusterVersion, kind configv1.ClusterStatusConditionType) *configv1.ClusterOperatorStatusCondition {
	for i := range cv.Status.Conditions {
		if cv.Status.Conditions[i].Type == kind {
			return &cv.Status.Conditions[i]
		}
	}
	return nil
}

func isTrue(cv *configv1.ClusterVersion, kind configv1.ClusterStatusConditionType) bool {
	c := condition(cv, kind)
	return c != nil && c.Status == configv1.ConditionTrue
}

// progress is what the cluster-version operator says of itself.
func progress(cv *configv1.ClusterVersion) string {
	var parts []string
	if c := condition(cv, configv1.OperatorProgressing); c != nil && c.Message != "" {
		parts = append(parts, c.Message)
	}
	if c := condition(cv, "Failing"); c != nil && c.Status == configv1.ConditionTrue {
		parts = append(parts, c.Message)
	}
	if c := condition(cv, "ReleaseAccepted"); c != nil && c.Status == configv1.ConditionFalse {
		parts = append(parts, c.Message)
	}
	return strings.Join(slices.Compact(parts), "; ")
}

// Available are ClusterVersion's status.availableUpdates.
func (t *Target) Available(ctx context.Context) ([]configv1.Release, error) {
	var cv configv1.ClusterVersion
	if err := t.Live.Get(ctx, client.ObjectKey{Name: Name}, &cv); err != nil {
		return nil, fmt.Errorf("read ClusterVersion %s: %w", Name, err)
	}
	return cv.Status.AvailableUpdates, nil
}

// Gates are none: OpenShift's operators say how it is.
func (t *Target) Gates(context.Context, *v1beta1.UpgradeJob, maintenance.Stage) []gate.Verdict {
	return nil
}

// Operators reads the cluster operators.
func (t *Target) Operators(ctx context.Context, into *snapshot.Health) {
	var list configv1.ClusterOperatorList
	if err := t.Live.List(ctx, &list); err != nil {
		into.OperatorsProblem = err.Error()
		return
	}
	for i := range list.Items {
		o := snapshot.Operator{Name: list.Items[i].Name}
		for _, c := range list.Items[i].Status.Conditions {
			switch {
			case c.Type == configv1.OperatorDegraded && c.Status == configv1.ConditionTrue:
				o.Degraded = either(c.Message, c.Reason)
			case c.Type == configv1.OperatorAvailable && c.Status == configv1.ConditionFalse:
				o.Unavailable = either(c.Message, c.Reason)
			}
		}
		into.Operators = append(into.Operators, o)
	}
}

// either is the first text that says something.
func either(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return "without a reason"
}
