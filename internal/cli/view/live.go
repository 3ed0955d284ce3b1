package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"refit.dev/refit/internal/cli/feed"
)

// ErrInterrupted says that a person stopped watching.
var ErrInterrupted = errors.New("watching was interrupted")

// Live draws the upgrade on a terminal, anew whenever something changes and every second, until ended says that it has
// ended, the context does, or a person presses Ctrl-C (ErrInterrupted).
func Live(ctx context.Context, in io.Reader, out io.Writer, upgrade string, f *feed.Feed, ended func(feed.Seen) bool) error {
	model := &live{upgrade: upgrade, feed: f, ended: ended, seen: f.Seen(), now: time.Now(), width: 80, height: 24}
	program := tea.NewProgram(model, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	_, err := program.Run()
	switch {
	case model.interrupted:
		return ErrInterrupted
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("draw the upgrade: %w", err)
	}
	return nil
}

type live struct {
	upgrade       string
	feed          *feed.Feed
	ended         func(feed.Seen) bool
	seen          feed.Seen
	now           time.Time
	width, height int
	interrupted   bool
}

type changedMsg struct{}

type tickMsg time.Time

// Init looks at once: the upgrade may have ended already.
func (m *live) Init() tea.Cmd {
	return tea.Batch(func() tea.Msg { return changedMsg{} }, tick())
}

// wait gives a message once the feed has something new.
func (m *live) wait() tea.Cmd {
	return func() tea.Msg {
		<-m.feed.Changed()
		return changedMsg{}
	}
}

func tick() tea.Cmd {
	return tea.Tick(time.Second, func(t time.Time) tea.Msg { return tickMsg(t) })
}

func (m *live) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		if msg.String() == "ctrl+c" || msg.String() == "q" {
			m.interrupted = true
			return m, tea.Quit
		}
	case tickMsg:
		m.now = time.Time(msg)
		return m, tick()
	case changedMsg:
		m.seen, m.now = m.feed.Seen(), time.Now()
		if m.ended(m.seen) {
			return m, tea.Quit
		}
		return m, m.wait()
	}
	return m, nil
}

func (m *live) View() tea.View {
	return tea.NewView(Screen(m.upgrade, m.seen, m.now, m.width, m.height))
}
