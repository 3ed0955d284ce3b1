package execute

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/utils/clock"

	"refit.dev/refit/internal/node/spec"
)

const (
	// lockWait is how long another step may take to let go of the node.
	lockWait  = 30 * time.Second
	lockEvery = 500 * time.Millisecond
)

// takeLock makes sure that one step at a time changes the node. The lock goes with the process.
func takeLock(ctx context.Context, root string, c clock.WithTicker) (*os.File, error) {
	path := filepath.Join(root, spec.StateDir, "lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("create %s: %w", spec.StateDir, err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the node's lock: %w", err)
	}
	ticker := c.NewTicker(lockEvery)
	defer ticker.Stop()
	for deadline := c.Now().Add(lockWait); ; {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) || c.Now().After(deadline) {
			return nil, errors.Join(fmt.Errorf("another step is still running on this node (`systemctl list-units 'refit-*'` there shows it): %w", err),
				file.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait for the node's lock: %w", context.Cause(ctx)), file.Close())
		case <-ticker.C():
		}
	}
}

func openLog(root, uid, step string) (*os.File, error) {
	path := filepath.Join(root, spec.LogPath(uid, step))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("create the log's folder: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the step's log: %w", err)
	}
	return file, nil
}
