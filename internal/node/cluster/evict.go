package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

const (
	// afterRefusal is when an eviction that a PodDisruptionBudget refused is asked for again, unless a pod of the node changes
	// first. afterError is when one is that met an error.
	afterRefusal = 5 * time.Second
	afterError   = 2 * time.Second
	// forceGrace and forceWait bound the end of pods that are deleted when the drain's time is over.
	forceGrace = int64(30)
	forceWait  = 75 * time.Second
)

func onNode(name string) metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", name).String()}
}

// eviction moves the pods of a node away. It watches them, so it asks only once for each pod that may go at once.
type eviction struct {
	Drain
	store   cache.Store
	changed chan struct{}
	known   attempts
	others  elsewhere
	// first are the pods that were there when the drain began, nil before that is known.
	first map[types.UID]bool
}

func newEviction(d Drain, others elsewhere) *eviction {
	return &eviction{Drain: d, changed: make(chan struct{}, 1), known: attempts{}, others: others}
}

// run returns nil once no pod is left, and errPodsLeft when the time is over.
func (e *eviction) run(ctx context.Context) error {
	synced := e.watch(ctx)
	ticker := e.Clock.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		if synced() {
			e.begin()
			left := e.left()
			if len(left) == 0 {
				return nil
			}
			if ctx.Err() == nil {
				e.ask(ctx, left)
			}
		}
		select {
		case <-ctx.Done():
			if !synced() {
				return fmt.Errorf("the node's pods could not be listed in time: the API server does not answer: %w", context.Cause(ctx))
			}
			return errPodsLeft
		case <-e.changed:
		case <-ticker.C(): // an eviction may be due again; this asks the API server nothing by itself
		}
	}
}

// watch keeps the node's pods up to date, over whatever happens to the connection.
func (e *eviction) watch(ctx context.Context) (synced func() bool) {
	signal := func() {
		select {
		case e.changed <- struct{}{}:
		default:
		}
	}
	store, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				o.FieldSelector = onNode(e.Spec.NodeName).FieldSelector
				return e.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				o.FieldSelector = onNode(e.Spec.NodeName).FieldSelector
				return e.Client.CoreV1().Pods(metav1.NamespaceAll).Watch(ctx, o)
			},
		}, e.Client),
		ObjectType: &corev1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { signal() },
			UpdateFunc: func(any, any) { signal() },
			DeleteFunc: func(any) { signal() },
		},
	})
	e.store = store
	go informer.RunWithContext(ctx)
	return informer.HasSynced
}

// begin notes, once, which pods there are.
func (e *eviction) begin() {
	if e.first != nil {
		return
	}
	e.first = map[types.UID]bool{}
	for _, pod := range e.present() {
		e.first[pod.UID] = true
	}
}

// left are the pods that have to leave and have not ended.
func (e *eviction) left() []*corev1.Pod {
	leave, _ := e.others.split(e.present())
	return slices.DeleteFunc(leave, e.cameBack)
}

// cameBack says that a pod was put on the node after its cordon, which it tolerates: evicted, it would only come back again.
func (e *eviction) cameBack(pod *corev1.Pod) bool {
	return e.first != nil && !e.first[pod.UID] && toleratesCordon(pod)
}

// returned are the pods that came back.
func (e *eviction) returned() []*corev1.Pod {
	leave, _ := e.others.split(e.present())
	return slices.DeleteFunc(leave, func(pod *corev1.Pod) bool { return !e.cameBack(pod) })
}

// staying are the pods that can run nowhere else.
func (e *eviction) staying() []*corev1.Pod {
	_, stay := e.others.split(e.present())
	return stay
}

// present are the node's pods that a drain is about.
func (e *eviction) present() []*corev1.Pod {
	var out []*corev1.Pod
	for _, item := range e.store.List() {
		if pod, ok := item.(*corev1.Pod); ok && leaves(pod) {
			out = append(out, pod)
		}
	}
	return out
}

// ask asks for each eviction that is due.
func (e *eviction) ask(ctx context.Context, left []*corev1.Pod) {
	for _, pod := range left {
		a := e.known.of(pod)
		if pod.DeletionTimestamp != nil || a.granted || e.Clock.Now().Before(a.next) {
			continue
		}
		e.evict(ctx, pod, a)
	}
}

func (e *eviction) evict(ctx context.Context, pod *corev1.Pod, a *attempt) {
	ctx, cancel := context.WithTimeout(ctx, requestDeadline)
	defer cancel()
	err := e.Client.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{
			GracePeriodSeconds: grace(pod, e.Spec.Drain.GracePeriodSeconds),
			Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
		},
	})
	before := a.why
	switch {
	case err == nil, apierrors.IsNotFound(err), apierrors.IsConflict(err):
		// Granted, gone, or another pod of the same name by now: the watch tells.
		a.granted, a.why = true, ""
		e.Log.Say("evicted %s", a.name)
		return
	case apierrors.IsTooManyRequests(err):
		a.next, a.why = e.Clock.Now().Add(afterRefusal), refusal(err)
	default:
		a.next, a.why = e.Clock.Now().Add(afterError), err.Error()
	}
	if a.why != before {
		e.Log.Say("%s stays for now: %s", a.name, a.why)
	}
}

// refusal is what the API server says of the budget that holds a pod.
func refusal(err error) string {
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Details == nil {
		return err.Error()
	}
	var causes []string
	for _, cause := range status.Status().Details.Causes {
		causes = append(causes, cause.Message)
	}
	if len(causes) == 0 {
		return err.Error()
	}
	return strings.Join(causes, ", ")
}

func (e *eviction) gone() int {
	n := 0
	for _, a := range e.known {
		if a.granted {
			n++
		}
	}
	return n
}

func (e *eviction) describe() string { return describe(e.left(), e.known, e.Clock.Now()) }

// force deletes the pods that are left, past their budgets, and waits a little for them to end. What is left even then does not
// hold the node's upgrade up: that is what the policy asks for.
func (e *eviction) force(ctx context.Context) (string, error) {
	left := e.left()
	e.Log.Say("the drain's time is over, and the policy is Force: deleting %s", e.describe())
	for _, pod := range left {
		within, cancel := context.WithTimeout(ctx, requestDeadline)
		seconds := forceGrace
		if own := pod.Spec.TerminationGracePeriodSeconds; own != nil && *own < seconds {
			seconds = *own
		}
		err := e.Client.CoreV1().Pods(pod.Namespace).Delete(within, pod.Name,
			metav1.DeleteOptions{GracePeriodSeconds: &seconds, Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
		cancel()
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			e.Log.Say("delete %s: %v", name(pod), err)
		}
	}
	within, cancel := context.WithTimeout(ctx, forceWait)
	defer cancel()
	rest := newEviction(e.Drain, e.others)
	rest.first = e.first
	for _, pod := range left {
		rest.known.of(pod).granted = true
	}
	if err := rest.run(within); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("delete the pods that are left: %w", context.Cause(ctx))
		}
		return "forced, as the policy asks; going on with " + rest.describe(), nil
	}
	return fmt.Sprintf("cordoned; %d pods were moved away, %d deleted by force", e.gone(), len(left)), nil
}
