package cachewait

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// behind is a cache that takes a number of looks to have the Pod at its version.
type behind struct {
	client.Reader
	looks   int
	before  string
	version string
}

func (b *behind) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	b.looks--
	switch {
	case b.looks < 0:
		o.SetResourceVersion(b.version)
	case b.before == "":
		return apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, key.Name)
	default:
		o.SetResourceVersion(b.before)
	}
	return nil
}

func pod(version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", ResourceVersion: version}}
}

func TestItWaitsUntilTheCacheHasWhatWasWritten(t *testing.T) {
	for what, cache := range map[string]*behind{
		"a change": {looks: 3, before: "99", version: "100"},
		"creation": {looks: 3, version: "100"},
		"later":    {looks: 2, before: "9", version: "101"},
		"at once":  {version: "100"},
	} {
		t.Run(what, func(t *testing.T) {
			began := time.Now()
			For(t.Context(), cache, nil, pod("100"))
			g := NewWithT(t)
			g.Expect(cache.looks).To(Equal(-1), "it looked until it saw it, and no longer")
			g.Expect(time.Since(began)).To(BeNumerically("<", most))
		})
	}
}

func TestItDoesNotWaitForEver(t *testing.T) {
	began := time.Now()
	For(t.Context(), &behind{looks: 1 << 30}, pod("100"))
	NewWithT(t).Expect(time.Since(began)).To(BeNumerically("~", most, most/2))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	For(ctx, &behind{looks: 1 << 30}, pod("100"))
	NewWithT(t).Expect(time.Since(began)).To(BeNumerically("<", 2*most))
}

func TestWhatCannotBeComparedIsNotWaitedFor(t *testing.T) {
	cache := &behind{looks: 1 << 30, before: "no number"}
	For(t.Context(), cache, pod("100"))
	NewWithT(t).Expect(cache.looks).To(Equal(1<<30 - 1))
}
