package observe

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// memo keeps what was read for a while, so that a burst of reconciles reads once. A failure is kept as well, but shortly.
type memo[T any] struct {
	mu    sync.Mutex
	at    time.Time
	value T
	err   error
}

// failedFor is how long a failure is kept.
const failedFor = 3 * time.Second

// get reads anew where what is kept is older than the age.
func (m *memo[T]) get(ctx context.Context, c clock.PassiveClock, age time.Duration, read func(context.Context) (T, error)) (T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		age = min(age, failedFor)
	}
	if !m.at.IsZero() && c.Since(m.at) < age {
		return m.value, m.err
	}
	m.value, m.err = read(ctx)
	m.at = c.Now()
	return m.value, m.err
}
