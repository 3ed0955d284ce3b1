package manager

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

// kept gives what the informers of a cache keep. The cache's own reader gives lists only as copies, if shallow ones: 9 MB for each look at
// 5000 nodes and the claims on them.
type kept struct {
	// cache waits for its informers to have everything.
	cache cache.Informers

	mu     sync.Mutex
	stores map[reflect.Type][]toolscache.Store
}

// newInformer makes the informers of the cache, and remembers where they keep what they know.
func (k *kept) newInformer(lw toolscache.ListerWatcher, of runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	informer := toolscache.NewSharedIndexInformer(lw, of, resync, indexers)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stores == nil {
		k.stores = map[reflect.Type][]toolscache.Store{}
	}
	t := reflect.TypeOf(of)
	k.stores[t] = append(k.stores[t], informer.GetStore())
	return informer
}

// Nodes are all nodes.
func (k *kept) Nodes(ctx context.Context) ([]*corev1.Node, error) { return all(ctx, k, &corev1.Node{}) }

// NodeUpgrades are all claims on nodes.
func (k *kept) NodeUpgrades(ctx context.Context) ([]*v1alpha1.NodeUpgrade, error) {
	return all(ctx, k, &v1alpha1.NodeUpgrade{})
}

// all are the objects of the kind of an empty one.
func all[T client.Object](ctx context.Context, k *kept, of T) ([]T, error) {
	if _, err := k.cache.GetInformer(ctx, of); err != nil { // there is none yet, or it does not have everything
		return nil, fmt.Errorf("list what the cache has of %T: %w", of, err)
	}
	k.mu.Lock()
	stores := k.stores[reflect.TypeOf(of)]
	k.mu.Unlock()
	var out []T
	for _, s := range stores {
		objects := s.List()
		if out == nil {
			out = make([]T, 0, len(objects))
		}
		for _, o := range objects {
			object, ok := o.(T)
			if !ok {
				return nil, fmt.Errorf("the cache of %T has a %T", of, o)
			}
			out = append(out, object)
		}
	}
	return out, nil
}
