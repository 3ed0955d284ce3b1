package clusterversion

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/internal/testcluster"
)

func template(s v1beta1.OverlaySpec, overlays ...v1beta1.ClusterVersionOverlayConfig) v1beta1.ClusterVersionSpec {
	return v1beta1.ClusterVersionSpec{Template: v1beta1.ClusterVersionTemplate{Spec: s}, Overlays: overlays}
}

func TestTheTemplateIsBroughtToOpenShiftAndDesiredUpdateIsKept(t *testing.T) {
	w := newWorld(t)
	w.upstream()
	override := configv1.ComponentOverride{Kind: "Deployment", Group: "apps", Namespace: "a", Name: "b", Unmanaged: true}
	w.ours("version", template(v1beta1.OverlaySpec{Channel: "stable-4.16", DesiredUpdate: &configv1.Update{Version: "4.99.0"}, Overrides: []configv1.ComponentOverride{override}}))
	w.Expect(w.reconcile().RequeueAfter).To(Equal(5 * time.Minute))
	w.Expect(w.seen()).To(Equal(configv1.ClusterVersionSpec{ClusterID: "bc75be34-e92d-4745-bb9d-8ec39e877854", Channel: "stable-4.16",
		DesiredUpdate: &configv1.Update{Version: "4.15.2"}, Overrides: []configv1.ComponentOverride{override}}), "an empty clusterID leaves OpenShift's, an empty upstream empties it")
	status, synced := w.status("version")
	w.Expect(synced.Reason).To(Equal(v1beta1.ReasonSynced))
	w.Expect(status.Current).To(Equal(v1beta1.OverlaySpec{Channel: "stable-4.16", Overrides: []configv1.ComponentOverride{override}}))
	w.Expect(status.OverlayApplied).To(BeNil())
	w.Expect(w.told()).To(ConsistOf("Normal Synced Changed upstream, channel, overrides of OpenShift's ClusterVersion"))

	w.r.Client = interceptor.NewClient(w.c, interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return errors.New("nothing differs")
		},
		SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
			return errors.New("nothing changed")
		},
	})
	w.clock.SetTime(noon.Add(time.Hour))
	w.reconcile()
	w.Expect(w.told()).To(BeEmpty())
}

func TestOverlaysSwitchAtTheirTimesAndAreShownBefore(t *testing.T) {
	w := newWorld(t)
	w.upstream()
	w.ours("version", template(v1beta1.OverlaySpec{Channel: "stable-4.15", Upstream: "https://graph"},
		from(3*time.Hour, v1beta1.OverlaySpec{Upstream: "https://other"}), from(2*time.Minute, channel("stable-4.16"))))
	w.Expect(w.reconcile().RequeueAfter).To(Equal(2 * time.Minute))
	status, _ := w.status("version")
	w.Expect(w.seen().Channel).To(Equal("stable-4.15"))
	w.Expect(status.Overlays).To(HaveLen(2))
	w.Expect(status.Overlays[0].From.Time).To(BeTemporally("==", noon.Add(2*time.Minute)))
	w.Expect(status.Overlays[0].Preview.Spec).To(Equal(v1beta1.OverlaySpec{Channel: "stable-4.16", Upstream: "https://graph"}))
	w.Expect(status.Overlays[1].Preview.Spec).To(Equal(v1beta1.OverlaySpec{Channel: "stable-4.15", Upstream: "https://other"}))

	w.clock.SetTime(noon.Add(2 * time.Minute))
	w.Expect(w.reconcile().RequeueAfter).To(Equal(5*time.Minute), "the next is hours away")
	status, _ = w.status("version")
	w.Expect(w.seen().Channel).To(Equal("stable-4.16"))
	w.Expect(status.OverlayApplied.Time).To(BeTemporally("==", noon.Add(2*time.Minute)))
	w.Expect(status.Overlays).To(HaveLen(1))

	w.clock.SetTime(noon.Add(3 * time.Hour))
	w.reconcile()
	status, _ = w.status("version")
	w.Expect(w.seen().Channel).To(Equal("stable-4.15"), "the first overlay has ended")
	w.Expect(w.seen().Upstream).To(BeEquivalentTo("https://other"))
	w.Expect(w.seen().DesiredUpdate).To(Equal(&configv1.Update{Version: "4.15.2"}))
	w.Expect(status.Overlays).To(BeEmpty())
}

func TestTheOldestObjectCountsAndTheOthersSaySo(t *testing.T) {
	w := newWorld(t)
	w.upstream()
	first := w.ours("a", template(channel("stable-4.15")))
	w.ours("b", template(channel("stable-4.16")))
	w.reconcile()
	w.Expect(w.seen().Channel).To(Equal("stable-4.15"))
	status, synced := w.status("b")
	w.Expect(synced.Reason).To(Equal(v1beta1.ReasonAnother))
	w.Expect(synced.Message).To(ContainSubstring("default/a"))
	w.Expect(status.Current).To(BeZero())

	w.Expect(w.c.Delete(t.Context(), first)).To(Succeed())
	w.reconcile()
	w.Expect(w.seen().Channel).To(Equal("stable-4.16"))
	_, synced = w.status("b")
	w.Expect(synced.Reason).To(Equal(v1beta1.ReasonSynced))
}

func TestWithoutOpenShiftTheConditionSaysSo(t *testing.T) {
	w := newWorld(t)
	w.r.openShift = false
	w.ours("version", template(channel("stable-4.15")))
	w.reconcile()
	_, synced := w.status("version")
	w.Expect(synced.Reason).To(Equal(v1beta1.ReasonNoOpenShift))

	w.r.openShift = true
	w.reconcile()
	_, synced = w.status("version")
	w.Expect(synced.Reason).To(Equal(v1beta1.ReasonNoClusterVersion))

	w.r.Client = interceptor.NewClient(w.c, interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return &meta.NoKindMatchError{}
	}})
	w.reconcile()
	_, synced = w.status("version")
	w.Expect(synced.Reason).To(Equal(v1beta1.ReasonNoOpenShift), "its kinds were removed")
	w.Expect(w.told()).To(BeEmpty())
}

func TestWhatOpenShiftRefusesIsKeptInTheConditionAndWarnedOfOnce(t *testing.T) {
	w := newWorld(t)
	w.upstream()
	ours := w.ours("version", template(v1beta1.OverlaySpec{Channel: "stable-4.16",
		Capabilities: &configv1.ClusterVersionCapabilitiesSpec{BaselineCapabilitySet: "None", AdditionalEnabledCapabilities: []configv1.ClusterVersionCapability{"marketplace"}}}))
	w.Expect(w.reconcile().RequeueAfter).To(Equal(5 * time.Minute))
	_, synced := w.status("version")
	w.Expect(synced.Reason).To(Equal(v1beta1.ReasonRefused))
	w.Expect(synced.Message).To(And(ContainSubstring("OpenShift refused upstream, channel, capabilities"), ContainSubstring("OperatorLifecycleManager")))
	w.Expect(len(synced.Message)).To(BeNumerically("<=", 1024))
	w.Expect(w.seen().Channel).To(Equal("candidate-4.15"))
	w.Expect(w.told()).To(ConsistOf(HavePrefix("Warning Refused OpenShift refused")))
	w.reconcile()
	w.Expect(w.told()).To(BeEmpty())

	w.Expect(w.c.Get(t.Context(), client.ObjectKeyFromObject(ours), ours)).To(Succeed())
	ours.Spec.Template.Spec.Capabilities = nil
	w.Expect(w.c.Update(t.Context(), ours)).To(Succeed())
	w.reconcile()
	_, synced = w.status("version")
	w.Expect(synced.Reason).To(Equal(v1beta1.ReasonSynced))
}

// OpenShift serves signatureStores only with a feature gate: its API server drops it without an error.
func TestWhatOpenShiftDropsIsNotCalledSynced(t *testing.T) {
	w := newWorld(t)
	w.upstream()
	w.ours("version", template(v1beta1.OverlaySpec{Channel: "stable-4.16", SignatureStores: []configv1.SignatureStore{{URL: "https://s"}}}))
	w.reconcile()
	_, synced := w.status("version")
	w.Expect(synced.Reason).To(Equal(v1beta1.ReasonRefused))
	w.Expect(synced.Message).To(ContainSubstring("signatureStores"))
	w.Expect(w.seen().Channel).To(Equal("stable-4.16"))
	w.Expect(w.told()).To(HaveLen(2))
	w.reconcile()
	w.Expect(w.told()).To(BeEmpty())
}

func TestAWriteThatCameBetweenLeadsToAnotherLook(t *testing.T) {
	w := newWorld(t)
	w.upstream()
	w.ours("version", template(channel("stable-4.16")))
	w.r.Client = interceptor.NewClient(w.c, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
		var meanwhile configv1.ClusterVersion
		w.Expect(c.Get(ctx, client.ObjectKeyFromObject(o), &meanwhile)).To(Succeed())
		meanwhile.Spec.DesiredUpdate.Version = "4.15.3"
		w.Expect(c.Update(ctx, &meanwhile)).To(Succeed())
		return c.Patch(ctx, o, p, opts...)
	}})
	w.Expect(w.reconcile().RequeueAfter).To(Equal(200 * time.Millisecond))
	w.r.Client = w.c
	w.reconcile()
	w.Expect(w.seen().Channel).To(Equal("stable-4.16"))
	w.Expect(w.seen().DesiredUpdate.Version).To(Equal("4.15.3"))
}

func TestAManagerPutsRightWhatSomebodyEditsAndFollowsTheTemplate(t *testing.T) {
	w := newWorld(t)
	up := w.upstream()
	mgr, err := ctrl.NewManager(testcluster.Start(t).Config, ctrl.Options{Scheme: w.c.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)}})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect((&Reconciler{Client: mgr.GetClient(), Recorder: w.recorder, Clock: clock.RealClock{}}).SetupWithManager(mgr, true)).To(Succeed())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() { stop(); w.Expect(<-ended).To(Succeed()) })

	w.ours("version", template(channel("stable-4.16")))
	channelIs := func(want string) {
		t.Helper()
		w.Eventually(func() string { return w.seen().Channel }).WithTimeout(20 * time.Second).WithPolling(50 * time.Millisecond).Should(Equal(want))
	}
	channelIs("stable-4.16")
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"channel":"fast-4.16","desiredUpdate":{"version":"4.16.9"}}}`))
	w.Expect(w.c.Patch(ctx, &configv1.ClusterVersion{ObjectMeta: metav1.ObjectMeta{Name: up.Name}}, patch)).To(Succeed())
	channelIs("stable-4.16")
	w.Expect(w.seen().DesiredUpdate.Version).To(Equal("4.16.9"))
	patch = client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"template":{"spec":{"channel":"eus-4.16"}}}}`))
	w.Expect(w.c.Patch(ctx, &v1beta1.ClusterVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "version"}}, patch)).To(Succeed())
	channelIs("eus-4.16")
}
