package observe

import (
	"context"
	"fmt"
	"sync"
	"time"

	"refit.dev/refit/internal/snapshot"
)

// lastWord is how long a read whose time is over may take to say what it was waiting for.
const lastWord = 500 * time.Millisecond

// within bounds a read: what is slow counts as not seen, and holds nothing else up. A read that does not heed its context is left
// behind.
func within[T any](limit time.Duration, read func(context.Context) (T, error)) func(context.Context) (T, error) {
	type answer struct {
		value T
		err   error
	}
	return func(ctx context.Context) (T, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		answers := make(chan answer, 1)
		go func() {
			var a answer
			a.value, a.err = read(ctx)
			answers <- a
		}()
		var a answer
		select {
		case a = <-answers:
			if a.err == nil {
				return a.value, nil
			}
		case <-ctx.Done():
			select {
			case a = <-answers: // it heeded its context, and says what it was at
			case <-time.After(lastWord):
				a.err = ctx.Err()
			}
		}
		if ctx.Err() != nil && a.err != nil {
			a.err = fmt.Errorf("could not be seen within %s: %w", limit, a.err)
		}
		return a.value, a.err
	}
}

// reads are made at the same time.
type reads struct {
	wg     sync.WaitGroup
	mu     sync.Mutex
	failed map[snapshot.Part]string
}

func (r *reads) add(part snapshot.Part, read func() error) {
	r.wg.Go(func() {
		err := read()
		if err == nil {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.failed == nil {
			r.failed = map[snapshot.Part]string{}
		}
		r.failed[part] = err.Error()
	})
}

// wait says, once all reads have ended, which parts could not be read, and why.
func (r *reads) wait() map[snapshot.Part]string {
	r.wg.Wait()
	return r.failed
}
