// Package cachewait lets a reconciler see what it has written: a cache is a few milliseconds behind, and a decision on what was before would
// be refused by the API server, or do a thing twice. Nothing rests on it but the number of requests.
package cachewait

import (
	"context"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// most bounds the waiting for all of what was written.
	most = time.Second
	// every is how often the cache is asked.
	every = 2 * time.Millisecond
)

// For returns once the cache has each object as it was written or later, or after a second. The objects are as the write returned them; nil
// ones are left out.
func For(ctx context.Context, cache client.Reader, written ...client.Object) {
	// That the time is over, or the context, is no error: the next look may be at something old, and is then refused.
	_ = wait.PollUntilContextTimeout(ctx, every, most, true, func(ctx context.Context) (bool, error) {
		for len(written) > 0 {
			if !seen(ctx, cache, written[0]) {
				return false, nil
			}
			written = written[1:]
		}
		return true, nil
	})
}

func seen(ctx context.Context, cache client.Reader, written client.Object) bool {
	if written == nil || written.GetResourceVersion() == "" {
		return true
	}
	have, ok := reflect.New(reflect.TypeOf(written).Elem()).Interface().(client.Object)
	if !ok {
		return true
	}
	err := cache.Get(ctx, client.ObjectKeyFromObject(written), have, client.UnsafeDisableDeepCopy) // only its version is looked at
	if err != nil {
		return !apierrors.IsNotFound(err)
	}
	order, err := resourceversion.CompareResourceVersion(have.GetResourceVersion(), written.GetResourceVersion())
	return err != nil || order >= 0
}
