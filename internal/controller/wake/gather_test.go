package wake

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"refit.dev/refit/api/v1alpha1"
)

func TestABurstOfChangesWakesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		upgrade := reconcile.Request{NamespacedName: types.NamespacedName{Name: "u"}}
		h := Gather(Each(200*time.Millisecond), func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{upgrade} })
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer queue.ShutDown()
		for range 50 {
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: &v1alpha1.NodeUpgrade{}, ObjectNew: &v1alpha1.NodeUpgrade{}}, queue)
			<-time.After(3 * time.Millisecond)
		}
		g.Expect(queue.Len()).To(BeZero(), "the moment is not over")
		<-time.After(100 * time.Millisecond)
		synctest.Wait()
		g.Expect(queue.Len()).To(Equal(1), "counted from the first change, so that no stream of changes puts it off for ever")
	})
}

func TestAnUrgentChangeDoesNotWaitForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		upgrade := reconcile.Request{NamespacedName: types.NamespacedName{Name: "u"}}
		moment := ByUrgency(200*time.Millisecond, 2*time.Second)
		h := Gather(moment, func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{upgrade} })
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer queue.ShutDown()
		staged, begun, done := &v1alpha1.NodeUpgrade{}, &v1alpha1.NodeUpgrade{}, &v1alpha1.NodeUpgrade{}
		staged.Status.Phase, begun.Status.Phase, done.Status.Phase = v1alpha1.NodeStaged, v1alpha1.NodeUpgrading, v1alpha1.NodeCompleted
		h.Update(t.Context(), event.UpdateEvent{ObjectOld: staged, ObjectNew: begun}, queue)
		<-time.After(time.Second)
		synctest.Wait()
		g.Expect(queue.Len()).To(BeZero(), "that a node was begun frees nothing")
		h.Update(t.Context(), event.UpdateEvent{ObjectOld: begun, ObjectNew: done}, queue)
		<-time.After(250 * time.Millisecond)
		synctest.Wait()
		g.Expect(queue.Len()).To(Equal(1), "that it is done makes room")
	})
}
