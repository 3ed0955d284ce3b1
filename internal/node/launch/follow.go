package launch

import (
	"io"
	"os"
)

// follower copies what is added to a log file. The file may not exist yet.
type follower struct {
	path string
	out  io.Writer
	file *os.File
}

func newFollower(path string, out io.Writer) *follower { return &follower{path: path, out: out} }

// skip leaves out what is in the file so far.
func (f *follower) skip() {
	if f.open() {
		// Where it cannot be done, older lines are shown as well.
		_, _ = f.file.Seek(0, io.SeekEnd)
	}
}

// drain copies what was added. The log is a courtesy: it must not stop the step, so what goes wrong with it is left at that.
func (f *follower) drain() {
	if f.open() {
		_, _ = io.Copy(f.out, f.file)
	}
}

func (f *follower) open() bool {
	if f.file != nil {
		return true
	}
	file, err := os.Open(f.path)
	if err != nil {
		return false
	}
	f.file = file
	return true
}

func (f *follower) close() {
	if f.file != nil {
		_ = f.file.Close()
	}
}
