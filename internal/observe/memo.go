package observe

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// memo keeps what was read for a while, so that a burst of reconciles reads once. A failure is kept as well, but shortly; one that
// took long for some times as long, so that a server that hangs is not waited for in every reconcile.
type memo[T any] struct {
	mu    sync.Mutex
	at    time.Time
	took  time.Duration
	value T
	err   error
}

const (
	// failedFor is how long a failure is kept at least.
	failedFor = 3 * time.Second
	// slowFor is how many times as long as it took a failure is kept.
	slowFor = 3
)

// get reads anew where what is kept is older than the age.
func (m *memo[T]) get(ctx context.Context, c clock.PassiveClock, age time.Duration, read func(context.Context) (T, error)) (T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		age = min(age, max(failedFor, slowFor*m.took))
	}
	if !m.at.IsZero() && c.Since(m.at) < age {
		return m.value, m.err
	}
	began := c.Now()
	m.value, m.err = read(ctx)
	m.at = c.Now()
	m.took = m.at.Sub(began)
	return m.value, m.err
}
