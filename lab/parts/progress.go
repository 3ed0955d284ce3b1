package parts

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"
	"time"
)

// progressInterval is how often a build that takes long says where it is.
const progressInterval = 15 * time.Second

// progress tells a person what is being built, for how long, and about how much is left.
type progress struct {
	w     io.Writer
	begun time.Time
	total int

	mu      sync.Mutex
	waiting map[string]Part
	running map[string]*running
	done    int
	// pace is how this machine compares with the one that the costs were measured on.
	spent, estimated time.Duration

	stop chan struct{}
	idle sync.WaitGroup
}

type running struct {
	part  Part
	since time.Time
	note  string
}

func newProgress(w io.Writer, parts []Part) *progress {
	p := &progress{w: w, begun: time.Now(), total: len(parts), waiting: map[string]Part{}, running: map[string]*running{},
		stop: make(chan struct{})}
	for _, part := range parts {
		p.waiting[part.String()] = part
	}
	fmt.Fprintf(w, "Building %d parts (only once: they are kept in the cache), about %s\n", len(parts), p.left())
	p.idle.Go(p.tick)
	return p
}

func (p *progress) tick() {
	t := time.NewTicker(progressInterval)
	defer t.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-t.C:
			p.mu.Lock()
			p.say()
			p.mu.Unlock()
		}
	}
}

// say prints one line with everything under way.
func (p *progress) say() {
	var now []string
	for _, r := range p.running {
		now = append(now, fmt.Sprintf("%s (%s, %s)", r.part, since(r.since), r.note))
	}
	sort.Strings(now)
	fmt.Fprintf(p.w, "  %6s  %d/%d done, about %s left: %s\n", since(p.begun), p.done, p.total, p.left(), strings.Join(now, "; "))
}

// left estimates the time to the end, from the parts' costs and the pace so far.
func (p *progress) left() time.Duration {
	var cost time.Duration
	for _, part := range p.waiting {
		cost += part.Cost
	}
	for _, r := range p.running {
		cost += max(r.part.Cost-time.Since(r.since)/atOnce, r.part.Cost/10)
	}
	if p.estimated > 0 {
		cost = time.Duration(float64(cost) * float64(p.spent) / float64(p.estimated))
	}
	return cost.Round(time.Second)
}

func (p *progress) started(part Part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, part.String())
	p.running[part.String()] = &running{part: part, since: time.Now(), note: "starting"}
}

func (p *progress) note(part Part, note string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.running[part.String()]; r != nil {
		r.note = note
	}
}

func (p *progress) ended(part Part, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.running[part.String()]
	if r == nil {
		return
	}
	delete(p.running, part.String())
	if err != nil {
		fmt.Fprintf(p.w, "  %6s  %s failed after %s\n", since(p.begun), part, since(r.since))
		return
	}
	p.done++
	p.spent += time.Since(r.since) / atOnce
	p.estimated += part.Cost
	fmt.Fprintf(p.w, "  %6s  %d/%d %s built in %s\n", since(p.begun), p.done, p.total, part, since(r.since))
}

func (p *progress) close() {
	close(p.stop)
	p.idle.Wait()
}

func since(t time.Time) time.Duration { return time.Since(t).Round(time.Second) }
