package sequence

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestJournal(t *testing.T) {
	record := func(step string, event Event) Record {
		return Record{Time: time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC), Step: step, Event: event, Message: "ünïcode and\nlines"}
	}
	open := func(g *WithT, path string) *Journal {
		j, err := OpenJournal(path)
		g.Expect(err).NotTo(HaveOccurred())
		return j
	}

	t.Run("keeps what was appended across a restart", func(t *testing.T) {
		g, path := NewWithT(t), filepath.Join(t.TempDir(), "journal", "uid.jsonl")
		j := open(g, path)
		g.Expect(j.Append(record("a", Started))).To(Succeed())
		g.Expect(j.Append(record("a", Finished))).To(Succeed())
		g.Expect(j.Close()).To(Succeed())

		j = open(g, path)
		g.Expect(j.Records()).To(Equal([]Record{record("a", Started), record("a", Finished)}))
		g.Expect(j.Starts("a")).To(Equal(1))
		g.Expect(j.Append(record("b", Started))).To(Succeed())
		g.Expect(ReadJournal(path)).To(HaveLen(3))
	})

	t.Run("drops a last line that a power cut left unfinished, wherever it was cut", func(t *testing.T) {
		g, path := NewWithT(t), filepath.Join(t.TempDir(), "uid.jsonl")
		j := open(g, path)
		g.Expect(j.Append(record("a", Started))).To(Succeed())
		g.Expect(j.Close()).To(Succeed())
		whole, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		for cut := range whole {
			g.Expect(os.WriteFile(path, append(append([]byte{}, whole...), whole[:cut]...), 0o600)).To(Succeed())
			j := open(g, path)
			g.Expect(j.Records()).To(HaveLen(1), "cut after %d bytes", cut)
			g.Expect(j.Append(record("b", Started))).To(Succeed())
			g.Expect(j.Close()).To(Succeed())
			g.Expect(ReadJournal(path)).To(Equal([]Record{record("a", Started), record("b", Started)}))
		}
	})

	t.Run("drops a last line of zeros, which some file systems leave", func(t *testing.T) {
		g, path := NewWithT(t), filepath.Join(t.TempDir(), "uid.jsonl")
		j := open(g, path)
		g.Expect(j.Append(record("a", Started))).To(Succeed())
		g.Expect(j.Close()).To(Succeed())
		whole, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.WriteFile(path, append(whole, make([]byte, 100)...), 0o600)).To(Succeed())
		g.Expect(open(g, path).Records()).To(HaveLen(1))
	})

	t.Run("refuses a journal that is broken in the middle, and says what to do", func(t *testing.T) {
		g, path := NewWithT(t), filepath.Join(t.TempDir(), "uid.jsonl")
		g.Expect(os.WriteFile(path, []byte("rubbish\n{\"step\":\"a\"}\n"), 0o600)).To(Succeed())
		_, err := OpenJournal(path)
		g.Expect(err).To(MatchError(And(ContainSubstring("line 1"), ContainSubstring("move the file away"))))
	})

	t.Run("has no records where there is no file", func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(ReadJournal(filepath.Join(t.TempDir(), "none"))).To(BeEmpty())
	})
}
