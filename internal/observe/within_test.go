package observe

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/internal/snapshot"
)

// hanging is an API server that has nothing, and never answers when it is asked for webhooks.
type hanging struct{ client.Reader }

func (hanging) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("away")
}

func (hanging) List(ctx context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if _, ok := list.(*admissionv1.ValidatingWebhookConfigurationList); ok {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func TestASlowCheckIsBoundedAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		o := &Observer{Reader: hanging{}, Live: hanging{}, Config: &rest.Config{Host: "http://127.0.0.1:1"}, Clock: clock.RealClock{}}
		began := time.Now()
		seen, err := o.Cluster(t.Context(), Cached)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(time.Since(began)).To(Equal(webhookWithin))
		g.Expect(seen.Unobserved).To(HaveKeyWithValue(snapshot.PartWebhooks, HavePrefix("could not be seen within 10s: list validating webhooks")))
		g.Expect(seen.Unobserved).To(HaveKeyWithValue(snapshot.PartKubeadm, HaveSuffix("away")), "what answers is not held up")

		began = time.Now()
		_, err = o.Cluster(t.Context(), Cached)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(time.Since(began)).To(BeZero(), "it is not waited for every time")
	})
}

func TestACheckThatHeedsNoDeadlineIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := make(chan struct{})
		_, err := within(time.Second, func(context.Context) (int, error) { <-deaf; return 1, nil })(t.Context())
		NewWithT(t).Expect(err).To(MatchError(HavePrefix("could not be seen within 1s: ")))
		close(deaf)
	})
}
