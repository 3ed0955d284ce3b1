package metrics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

var both = Options{Aliases: true, OpenShift: true}

func TestWhatCannotBeReadIsLeftOutAndCountedAndTheRestIsThere(t *testing.T) {
	whole := gather(t, collector(reader(t, everything()...), both))
	for kind, tt := range map[string]struct {
		what string
		// lost are beginnings of the names of metrics that are left out, less their prefixes.
		lost []string
	}{
		"UpgradeJobList":              {theJobs, []string{"upgradejob_"}},
		"UpgradeJobHookList":          {theHooks, []string{"upgradejob_state{desired_version_force"}},
		"UpgradeConfigList":           {theConfigs, []string{"upgradeconfig_"}},
		"UpgradeSuspensionWindowList": {theWindows, []string{"upgradesuspensionwindow_", "suspension_active"}},
		"KubernetesUpgradeList":       {theUpgrades, []string{"kubernetesupgrade_"}},
		"ClusterVersionList":          {theVersions, []string{"cluster_version_"}},
		"MachineConfigPoolList":       {thePools, []string{"machine_config_pools_", "cluster_upgrading"}},
		"ClusterVersion":              {theOpenShift, nil}, // a pool that is being updated says enough
	} {
		t.Run(kind, func(t *testing.T) {
			fails := func(o any) error {
				if reflect.TypeOf(o).Elem().Name() == kind {
					return errors.New("no answer")
				}
				return nil
			}
			r := interceptor.NewClient(reader(t, everything()...), interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
					return errors.Join(fails(list), c.List(ctx, list, opts...))
				},
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
					return errors.Join(fails(o), c.Get(ctx, key, o, opts...))
				},
			})
			want := maps.Clone(whole)
			maps.DeleteFunc(want, func(series string, _ float64) bool {
				bare := strings.TrimPrefix(strings.TrimPrefix(series, ownPrefix), aliasPrefix)
				return slices.ContainsFunc(tt.lost, func(beginning string) bool { return strings.HasPrefix(bare, beginning) })
			})
			want["refit_metrics_collect_errors_total{what="+tt.what+"}"] = 1
			c := collector(r, both)
			g := NewWithT(t)
			g.Expect(gather(t, c)).To(Equal(want))
			g.Expect(gather(t, c)).To(HaveKeyWithValue("refit_metrics_collect_errors_total{what="+tt.what+"}", 2.0))
		})
	}
}

func TestAClusterThatServesNothingGivesOnlyTheCountOfErrors(t *testing.T) {
	got := gather(t, collector(fake.NewClientBuilder().WithScheme(runtime.NewScheme()).Build(), both))
	NewWithT(t).Expect(names(got)).To(Equal([]string{"refit_metrics_collect_errors_total"}))
}

func TestAnOpenShiftWithoutClusterVersionGivesTheRest(t *testing.T) {
	g := NewWithT(t)
	got := gather(t, collector(reader(t, upgradeConfig(), pool("worker", false, 3)), both))
	g.Expect(got).To(HaveKeyWithValue("refit_metrics_collect_errors_total{what=openshiftclusterversion}", 1.0))
	g.Expect(got).To(HaveKey("refit_upgradeconfig_suspended{namespace=ops,upgradeconfig=weekly}"))
	g.Expect(names(got)).NotTo(ContainElement("refit_cluster_upgrading"))
}

func TestAReaderThatHangsHoldsTheScrapeUpForABoundedTime(t *testing.T) {
	g := NewWithT(t)
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	c := collector(interceptor.NewClient(reader(t), interceptor.Funcs{
		List: func(ctx context.Context, _ client.WithWatch, _ client.ObjectList, _ ...client.ListOption) error {
			return hangs(ctx)
		},
		Get: func(ctx context.Context, _ client.WithWatch, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
			return hangs(ctx)
		},
	}), both)
	g.Expect(c.timeout).To(Equal(2 * time.Second))
	c.timeout = 200 * time.Millisecond
	began := time.Now()
	g.Expect(names(gather(t, c))).To(Equal([]string{"refit_metrics_collect_errors_total"}))
	g.Expect(time.Since(began)).To(And(BeNumerically(">=", c.timeout), BeNumerically("<", 10*c.timeout)))
}

func TestAKindThatHangsDoesNotCostTheOthers(t *testing.T) {
	c := collector(interceptor.NewClient(reader(t, everything()...), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, hangs := list.(*v1beta1.UpgradeJobList); hangs {
				<-ctx.Done()
				return ctx.Err()
			}
			return c.List(ctx, list, opts...)
		},
	}), both)
	NewWithT(t).Expect(names(gather(t, c))).To(ContainElements("refit_upgradeconfig_suspended", "refit_cluster_upgrading", "refit_kubernetesupgrade_state"))
}

// prepared gives jobs as a cache does, without a copy.
type prepared struct {
	client.Reader
	jobs []v1beta1.UpgradeJob
}

func (p *prepared) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if jobs, ok := list.(*v1beta1.UpgradeJobList); ok {
		jobs.Items = p.jobs
		return nil
	}
	return p.Reader.List(ctx, list, opts...)
}

func TestTenThousandJobsAreCollectedInTime(t *testing.T) {
	g, p := NewWithT(t), &prepared{Reader: reader(t, everything()...)}
	for i := range 10_000 {
		j := failedJob()
		j.Name = fmt.Sprintf("job-%d", i)
		p.jobs = append(p.jobs, *j)
	}
	c := collector(p, both)
	began := time.Now()
	got := families(t, c)
	took := time.Since(began)
	t.Logf("%s for %d jobs", took, len(p.jobs))
	g.Expect(took).To(BeNumerically("<", 5*time.Second))
	for _, f := range got {
		if f.GetName() == "refit_upgradejob_state" {
			g.Expect(f.Metric).To(HaveLen(len(p.jobs)))
		}
	}
}

func TestTheSameSeriesTwiceDoesNotBreakTheScrape(t *testing.T) {
	w := suspension()
	w.Status.MatchingConfigs = append(w.Status.MatchingConfigs, w.Status.MatchingConfigs...)
	v := clusterVersion()
	v.Status.Overlays = append(v.Status.Overlays, v.Status.Overlays...)
	NewWithT(t).Expect(gather(t, collector(reader(t, w, v), Options{Aliases: true}))).NotTo(HaveKey(ContainSubstring("errors")))
}

func TestLabelsThatPrometheusDoesNotTakeAreLeftOutAndCounted(t *testing.T) {
	g, p := NewWithT(t), &prepared{Reader: reader(t)}
	j := failedJob()
	j.Status.Conditions[1].Reason = "\xff"
	p.jobs = append(p.jobs, *j)
	got := gather(t, collector(p, Options{}))
	g.Expect(got).To(HaveKeyWithValue("refit_metrics_collect_errors_total{what=labels}", 1.0))
	g.Expect(got).To(HaveKey(HavePrefix("refit_upgradejob_hook_runs")))
}

func TestSeveralMayAskAtOnce(t *testing.T) {
	c, want := collector(reader(t, everything()...), both), len(ofOwn())+len(ofAliases())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := gather(t, c); len(got) != want {
				t.Errorf("%d series, not %d", len(got), want)
			}
		})
	}
	all.Wait()
}
