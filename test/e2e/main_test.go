package e2e

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// TestMain says at the very end once more what failed: a run is of tens of thousands of lines, and who follows it sees the last ones.
func TestMain(m *testing.M) {
	code := m.Run()
	failures.tell()
	os.Exit(code)
}

var failures told

// told are the messages with which tests failed, in their order.
type told struct {
	mu       sync.Mutex
	messages []string
}

func (f *told) add(test, message string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.messages = append(f.messages, fmt.Sprintf("%s:%s", test, message))
}

func (f *told) tell() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.messages {
		fmt.Printf("\n=== WHY %s\n", m)
	}
}

// telling is a test whose failed expectations are told again at the end.
type telling struct{ *testing.T }

func (t telling) Fatalf(format string, args ...any) {
	t.Helper()
	failures.add(t.Name(), fmt.Sprintf(format, args...))
	t.T.Fatalf(format, args...)
}
