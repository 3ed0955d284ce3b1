package claim

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/rollout"
	"refit.dev/refit/internal/snapshot"
	"refit.dev/refit/internal/testcluster"
)

const to = "v1.36.3"

// site is an API server with one ControlPlaneUpgrade, which orders cp-0 and cp-1.
type site struct {
	*WithT
	ctx    context.Context
	client client.Client
	clock  *clocktesting.FakePassiveClock
	orders *v1alpha1.ControlPlaneUpgrade
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{WithT: NewWithT(t), ctx: t.Context(), client: testcluster.Start(t).Client, clock: clocktesting.NewFakePassiveClock(time.Now())}
	err := s.client.Create(s.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.Namespace}})
	s.Expect(err == nil || apierrors.IsAlreadyExists(err)).To(BeTrue())
	s.orders = &v1alpha1.ControlPlaneUpgrade{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.Namespace, Name: "orders"},
		Spec: v1alpha1.ControlPlaneUpgradeSpec{KubernetesVersion: to, ControlPlane: corev1.ObjectReference{Name: "u"},
			MachinesRequireUpgrade: []corev1.ObjectReference{{Name: "cp-0"}, {Name: "cp-1"}}},
	}
	s.Expect(s.client.Create(s.ctx, s.orders)).To(Succeed())
	t.Cleanup(func() {
		ctx := context.Background()
		s.Expect(s.client.Delete(ctx, s.orders)).To(Succeed())
		var all v1alpha1.NodeUpgradeList
		s.Expect(s.client.List(ctx, &all)).To(Succeed())
		for i := range all.Items {
			all.Items[i].Finalizers = nil
			s.Expect(s.client.Update(ctx, &all.Items[i])).To(Succeed())
			s.Expect(client.IgnoreNotFound(s.client.Delete(ctx, &all.Items[i]))).To(Succeed())
		}
	})
	return s
}

// look is what a manager observes: the object that orders nodes first, then the claims.
func (s *site) look() (*v1alpha1.ControlPlaneUpgrade, *snapshot.Cluster) {
	u := &v1alpha1.ControlPlaneUpgrade{}
	s.Expect(s.client.Get(s.ctx, client.ObjectKeyFromObject(s.orders), u)).To(Succeed())
	var claims v1alpha1.NodeUpgradeList
	s.Expect(s.client.List(s.ctx, &claims)).To(Succeed())
	var all []*v1alpha1.NodeUpgrade
	for i := range claims.Items {
		all = append(all, &claims.Items[i])
	}
	return u, &snapshot.Cluster{NodeUpgrades: all, Nodes: []snapshot.Node{{Name: "cp-0", ControlPlane: true}, {Name: "cp-1", ControlPlane: true}},
		Versions: []v1alpha1.KubernetesVersion{{Spec: v1alpha1.KubernetesVersionSpec{Version: to, Components: []v1alpha1.Component{{Name: "etcd", Version: "3.6.8-0"}}}}}}
}

func (s *site) owner(u *v1alpha1.ControlPlaneUpgrade, turn *Turn) Owner {
	return Owner{Upgrade: "u", Turn: turn, Reference: *metav1.NewControllerRef(u, v1alpha1.GroupVersion.WithKind("ControlPlaneUpgrade"))}
}

func action(kind rollout.ActionKind, node string) rollout.Action {
	return rollout.Action{Kind: kind, Node: node, Name: rollout.ClaimName(node, to), Version: to, Resume: 2}
}

func (s *site) stage(nodes ...string) {
	u, seen := s.look()
	for _, n := range nodes {
		s.Expect(carry(s.ctx, s.client, seen, s.owner(u, nil), action(rollout.Stage, n))).To(Succeed())
		s.Expect(carry(s.ctx, s.client, seen, s.owner(u, nil), action(rollout.Stage, n))).To(Succeed(), "staging twice makes one claim")
	}
}

func (s *site) claim(node string) *v1alpha1.NodeUpgrade {
	nu := &v1alpha1.NodeUpgrade{}
	s.Expect(s.client.Get(s.ctx, client.ObjectKey{Namespace: v1alpha1.Namespace, Name: rollout.ClaimName(node, to)}, nu)).To(Succeed())
	return nu
}

func TestAClaimIsMadeHeldAndReleased(t *testing.T) {
	s := newSite(t)
	s.stage("cp-0")
	nu := s.claim("cp-0")
	s.Expect(nu.Spec.Hold).To(BeTrue())
	s.Expect(nu.Spec.NodeType).To(Equal(v1alpha1.NodeTypeControlPlane))
	s.Expect(*nu.Spec.EtcdVersion).To(Equal("3.6.8-0"))
	s.Expect(nu.Labels).To(HaveKeyWithValue(v1alpha1.LabelUpgrade, "u"))
	s.Expect(nu.Annotations).To(HaveKeyWithValue(v1alpha1.AnnotationResume, "2"))
	s.Expect(nu.Finalizers).To(ConsistOf(v1alpha1.Finalizer))

	u, seen := s.look()
	s.Expect(carry(s.ctx, s.client, seen, s.owner(u, nil), action(rollout.Start, "cp-0"))).To(MatchError(ErrTurnOver), "nothing begins without a turn")
	turn, err := TakeTurn(s.ctx, s.client, s.clock, u, &u.Status.Turn)
	s.Expect(err).NotTo(HaveOccurred())
	start := action(rollout.Start, "cp-0")
	start.First = true
	s.Expect(carry(s.ctx, s.client, seen, s.owner(u, turn), start)).To(Succeed())
	s.Expect(s.claim("cp-0").Spec.Hold).To(BeFalse())
	s.Expect(s.claim("cp-0").Spec.FirstNodeToBeUpgraded).To(BeTrue())
}

func TestOfTwoLeadersWithTheSameObservationOneBeginsANode(t *testing.T) {
	s := newSite(t)
	s.stage("cp-0", "cp-1")
	u1, seen1 := s.look()
	u2, seen2 := s.look()

	turn, err := TakeTurn(s.ctx, s.client, s.clock, u1, &u1.Status.Turn)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(carry(s.ctx, s.client, seen1, s.owner(u1, turn), action(rollout.Start, "cp-0"))).To(Succeed())

	_, err = TakeTurn(s.ctx, s.client, s.clock, u2, &u2.Status.Turn)
	s.Expect(apierrors.IsConflict(err)).To(BeTrue(), "the other decided on what is no more")
	s.Expect(carry(s.ctx, s.client, seen2, s.owner(u2, nil), action(rollout.Start, "cp-1"))).To(MatchError(ErrTurnOver))
	s.Expect(s.claim("cp-1").Spec.Hold).To(BeTrue())
}

func TestALeaderThatWasStoppedBeginsNothingWhenItWakes(t *testing.T) {
	s := newSite(t)
	s.stage("cp-0", "cp-1")
	u1, seen1 := s.look()
	old, err := TakeTurn(s.ctx, s.client, s.clock, u1, &u1.Status.Turn)
	s.Expect(err).NotTo(HaveOccurred())

	// It is stopped here. Its lease runs out, and another one leads and begins cp-0.
	s.clock.SetTime(s.clock.Now().Add(31 * time.Second))
	u2, seen2 := s.look()
	turn, err := TakeTurn(s.ctx, s.client, s.clock, u2, &u2.Status.Turn)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(carry(s.ctx, s.client, seen2, s.owner(u2, turn), action(rollout.Start, "cp-0"))).To(Succeed())

	s.Expect(carry(s.ctx, s.client, seen1, s.owner(u1, old), action(rollout.Start, "cp-1"))).To(MatchError(ErrTurnOver))
	s.Expect(s.claim("cp-1").Spec.Hold).To(BeTrue())
}

// A kind that was installed before the count drops it, and the API server takes such a write for none.
func TestATurnThatIsNotCountedIsNone(t *testing.T) {
	s := newSite(t)
	u, _ := s.look()
	s.Expect(s.client.Status().Update(s.ctx, u)).To(Succeed())
	old := interceptor.NewClient(s.client.(client.WithWatch), interceptor.Funcs{SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
		o.(*v1alpha1.ControlPlaneUpgrade).Status.Turn = 0
		return c.SubResource(sub).Update(ctx, o, opts...)
	}})
	_, err := TakeTurn(s.ctx, old, s.clock, u, &u.Status.Turn)
	s.Expect(err).To(MatchError(ErrOldKind))
	told := events.NewFakeRecorder(2)
	TellOldKind(told, u, err)
	TellOldKind(told, u, ErrTurnOver)
	s.Expect(told.Events).To(HaveLen(1))
	s.Expect(<-told.Events).To(ContainSubstring("run `refit install`"))
}

func TestWhatAPersonChangedMeanwhileIsDecidedAnew(t *testing.T) {
	s := newSite(t)
	s.stage("cp-0")
	u, seen := s.look()
	turn, err := TakeTurn(s.ctx, s.client, s.clock, u, &u.Status.Turn)
	s.Expect(err).NotTo(HaveOccurred())
	nu := s.claim("cp-0")
	nu.Spec.Abort = true
	s.Expect(s.client.Update(s.ctx, nu)).To(Succeed())

	err = carry(s.ctx, s.client, seen, s.owner(u, turn), action(rollout.Start, "cp-0"))
	s.Expect(apierrors.IsConflict(err)).To(BeTrue())
	s.Expect(s.claim("cp-0").Spec.Hold).To(BeTrue())
}

func TestRetryAbortAndForget(t *testing.T) {
	s := newSite(t)
	s.stage("cp-0")
	do := func(kind rollout.ActionKind) {
		u, seen := s.look()
		turn, err := TakeTurn(s.ctx, s.client, s.clock, u, &u.Status.Turn)
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(carry(s.ctx, s.client, seen, s.owner(u, turn), action(kind, "cp-0"))).To(Succeed())
	}
	do(rollout.Abort)
	s.Expect(s.claim("cp-0").Spec.Abort).To(BeTrue())
	do(rollout.Retry)
	nu := s.claim("cp-0")
	s.Expect(nu.Spec.Abort).To(BeFalse())
	s.Expect(nu.Spec.Hold).To(BeFalse())
	s.Expect(nu.Spec.Retry).To(Equal(int64(1)))
	do(rollout.Forget)
	s.Expect(s.claim("cp-0").DeletionTimestamp).NotTo(BeNil(), "the claim gives back what it took before it goes")
}

func carry(ctx context.Context, c client.Client, seen *snapshot.Cluster, o Owner, a rollout.Action) error {
	_, err := Carry(ctx, c, seen, o, a)
	return err
}
