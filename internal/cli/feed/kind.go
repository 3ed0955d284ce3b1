package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// watchTimeout is after how long the API server is asked to end a watch.
	watchTimeout = 30 * time.Second
	// readTimeout bounds a read: an API server that is going down may leave it hanging.
	readTimeout = 10 * time.Second
	// pause before the API server is asked again.
	pause = time.Second
)

// kind keeps the objects of one kind.
type kind[T any, P interface {
	*T
	client.Object
}] struct {
	feed    *Feed
	client  client.WithWatch
	clock   clock.WithTicker
	list    client.ObjectList // its type
	what    string
	options []client.ListOption

	mu      sync.Mutex
	objects map[client.ObjectKey]T
	order   []client.ObjectKey
	version string
}

func newKind[T any, P interface {
	*T
	client.Object
}](f *Feed, c client.WithWatch, clk clock.WithTicker, list client.ObjectList, what string, options ...client.ListOption) *kind[T, P] {
	return &kind[T, P]{feed: f, client: c, clock: clk, list: list, what: what, options: options}
}

// read replaces what is known by what the API server says now.
func (k *kind[T, P]) read(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	list, ok := k.list.DeepCopyObject().(client.ObjectList)
	if !ok {
		return fmt.Errorf("list %s: %T is no list", k.what, k.list)
	}
	if err := k.client.List(ctx, list, k.options...); err != nil {
		return fmt.Errorf("list %s: %w", k.what, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.objects, k.order, k.version = map[client.ObjectKey]T{}, nil, list.GetResourceVersion()
	return meta.EachListItem(list, func(o runtime.Object) error {
		if object, ok := o.(P); ok {
			k.put(object)
		}
		return nil
	})
}

// put is called with the lock held.
func (k *kind[T, P]) put(object P) {
	key := client.ObjectKeyFromObject(object)
	if _, known := k.objects[key]; !known {
		k.order = append(k.order, key)
	}
	k.objects[key] = *object
}

// errStale says that what is known is too old to go on from.
var errStale = errors.New("what was read is too old")

// follow watches until the context ends, and reads anew where it has to.
func (k *kind[T, P]) follow(ctx context.Context) {
	for ctx.Err() == nil {
		began := k.clock.Now()
		err := k.watch(ctx)
		if errors.Is(err, errStale) {
			err = k.read(ctx)
		}
		if err == nil && k.clock.Since(began) >= pause {
			continue // it ended as it should
		}
		if err != nil && ctx.Err() == nil {
			k.feed.lost.set(k.what, err)
			k.feed.tell()
		}
		select {
		case <-ctx.Done():
		case <-k.clock.After(pause):
		}
	}
}

// watch takes in changes until the watch ends, which it does from time to time.
func (k *kind[T, P]) watch(ctx context.Context) error {
	list, ok := k.list.DeepCopyObject().(client.ObjectList)
	if !ok {
		return fmt.Errorf("watch %s: %T is no list", k.what, k.list)
	}
	// A connection to an API server that died without a word is noticed by the server's end of it not coming.
	ctx, cancel := context.WithTimeout(ctx, watchTimeout+readTimeout)
	defer cancel()
	options := append([]client.ListOption{&client.ListOptions{Raw: listOptionsFrom(k.version)}}, k.options...)
	w, err := k.client.Watch(ctx, list, options...)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return errStale
	}
	if err != nil {
		return fmt.Errorf("watch %s: %w", k.what, err)
	}
	defer w.Stop()
	k.feed.lost.set(k.what, nil)
	k.feed.tell()
	for event := range w.ResultChan() {
		object, ok := event.Object.(P)
		if !ok {
			return errStale // the API server says so, or is going away: then the reading fails, too
		}
		k.take(event.Type, object)
		k.feed.tell()
	}
	return nil
}

func (k *kind[T, P]) take(what apiwatch.EventType, object P) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.version = object.GetResourceVersion()
	if what == apiwatch.Deleted {
		delete(k.objects, client.ObjectKeyFromObject(object))
		return
	}
	k.put(object)
}

// all are the objects, in the order in which they were first seen.
func (k *kind[T, P]) all() []T {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make([]T, 0, len(k.objects))
	kept := k.order[:0]
	for _, key := range k.order {
		if object, found := k.objects[key]; found {
			out = append(out, object)
			kept = append(kept, key)
		}
	}
	k.order = kept
	return out
}
