package fakehost

import (
	"errors"
	"io"
	"os"
	"sync"

	"refit.dev/refit/internal/node/replace"
)

// ErrPower is what everything answers once the power is cut.
var ErrPower = errors.New("the power is cut")

// Power is cut after a number of changes of the world.
type Power struct {
	mu   sync.Mutex
	left int
	used int
}

// CutAfter cuts the power after so many further changes; below 0 it stays on.
func (p *Power) CutAfter(changes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.used = changes, 0
}

// Used counts the changes since CutAfter.
func (p *Power) Used() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// Off says whether the power is cut.
func (p *Power) Off() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left == 0
}

// spend says whether there is power for one more change.
func (p *Power) spend() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 {
		return false
	}
	if p.left > 0 {
		p.left--
	}
	p.used++
	return true
}

// disk is the real disk for as long as there is power. A file that is being written when it goes is left half.
type disk struct {
	replace.OS
	power *Power
}

func (d disk) WriteTemp(path string, content io.Reader, mode os.FileMode) error {
	if !d.power.spend() {
		return errors.Join(ErrPower, d.OS.WriteTemp(path, io.LimitReader(content, 3), mode))
	}
	return d.OS.WriteTemp(path, content, mode)
}

func (d disk) Link(a, b string) error {
	if !d.power.spend() {
		return ErrPower
	}
	return d.OS.Link(a, b)
}

func (d disk) Rename(a, b string) error {
	if !d.power.spend() {
		return ErrPower
	}
	return d.OS.Rename(a, b)
}

func (d disk) Remove(path string) error {
	if d.power.Off() {
		return ErrPower
	}
	return d.OS.Remove(path)
}

func (d disk) SyncFolder(path string) error {
	if d.power.Off() {
		return ErrPower
	}
	return d.OS.SyncFolder(path)
}
