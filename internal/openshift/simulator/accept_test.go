package simulator

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const elsewhere = "registry.example.com/release@sha256:1111111111111111111111111111111111111111111111111111111111111111"

func TestWhatMayStart(t *testing.T) {
	older := []configv1.UpdateHistory{{Version: "4.16.0"}}
	for _, tt := range []struct {
		name string
		want configv1.Update
		// reason that it is refused for, if it is.
		reason string
		// invalid says that the spec itself is at fault.
		invalid bool
	}{
		{name: "an available version", want: configv1.Update{Version: to}},
		{name: "an available image", want: configv1.Update{Image: Image(to)}},
		{name: "an available version with its image", want: configv1.Update{Version: to, Image: Image(to)}},
		{name: "a version with the image of another one", want: configv1.Update{Version: to, Image: Image(next)}, reason: "VerifyPayloadVersion"},
		{name: "an unknown version", want: configv1.Update{Version: "4.99.0"}, reason: "RetrievePayload", invalid: true},
		{name: "an unknown version without an image, by force", want: configv1.Update{Version: "4.99.0", Force: true}, reason: "RetrievePayload", invalid: true},
		{name: "an unknown image", want: configv1.Update{Version: "4.99.0", Image: elsewhere}, reason: "RetrievePayload"},
		{name: "an unknown image by force", want: configv1.Update{Version: "4.99.0", Image: elsewhere, Force: true}},
		{name: "an unknown image of no version", want: configv1.Update{Image: elsewhere, Force: true}, reason: "RetrievePayload"},
		{name: "an older version", want: configv1.Update{Version: "4.16.0"}, reason: "RetrievePayload", invalid: true},
		{name: "an older image", want: configv1.Update{Image: Image("4.16.0")}, reason: "PreconditionChecks"},
		{name: "an older version by force", want: configv1.Update{Version: "4.16.0", Force: true}},
		{name: "the version that the cluster has", want: configv1.Update{Version: from}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlay(t, Options{History: older})
			p.want(&tt.want)
			p.step()
			p.Expect(p.is(releaseAccepted)).To(Equal(tt.reason == ""))
			p.Expect(p.is(invalid)).To(Equal(tt.invalid))
			p.Expect(p.is(configv1.OperatorProgressing)).To(Equal(tt.reason == "" && tt.want.Version != from))
			if tt.reason == "" {
				p.Expect(names(&tt.want, p.version().Status.Desired)).To(BeTrue())
				return
			}
			p.Expect(p.condition(releaseAccepted).Reason).To(Equal(tt.reason))
			p.Expect(p.version().Status.Desired.Version).To(Equal(from))
			p.Expect(p.version().Status.History).To(HaveLen(2))
			p.want(nil)
			p.step()
			p.Expect(p.is(releaseAccepted)).To(BeTrue(), "what nobody wants any more is not refused")
			p.Expect(p.is(invalid)).To(BeFalse())
		})
	}
}

func TestSomebodyElsesWriteIsNeverOverwritten(t *testing.T) {
	p := unseeded(t, Options{Pools: pools})
	p.Expect(p.Seed(p.ctx)).To(Succeed())
	races, seen := 0, map[string]bool{}
	meddle := func(o client.Object) {
		if seen[o.GetName()] {
			return
		}
		seen[o.GetName()] = true
		races++
		theirs := o.DeepCopyObject().(client.Object)
		p.Expect(p.c.Get(p.ctx, client.ObjectKeyFromObject(o), theirs)).To(Succeed())
		theirs.SetAnnotations(map[string]string{"written": "in between"})
		p.Expect(p.c.Update(p.ctx, theirs)).To(Succeed())
	}
	p.Simulator = p.simulator(interceptor.NewClient(p.c, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			meddle(o)
			return c.Patch(ctx, o, patch, opts...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			meddle(o)
			return c.SubResource(sub).Update(ctx, o, opts...)
		},
	}), Options{Pools: pools})
	p.want(&configv1.Update{Version: to})
	p.until("completed", p.completed(to))
	p.until("the workers", p.updated("worker", to))
	p.Expect(races).To(Equal(6), "the version, three operators and two pools")
	for _, o := range []client.Object{p.version(), p.operator("etcd"), p.operator("dns"), p.operator(MachineConfig), p.pool(MasterPool), p.pool("worker")} {
		p.Expect(o.GetAnnotations()).To(HaveKeyWithValue("written", "in between"), o.GetName())
	}
}
