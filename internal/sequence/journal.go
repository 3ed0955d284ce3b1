package sequence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Journal is an append-only file of records, one JSON object a line. What Append has returned from is on disk.
type Journal struct {
	file    *os.File
	records []Record
}

// OpenJournal opens or creates the journal at path. A last line that a power cut left unfinished is dropped.
func OpenJournal(path string) (*Journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("create the journal's folder: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	j := &Journal{file: file}
	if err := j.load(path); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return j, nil
}

// ReadJournal reads the records of the journal at path without changing it. A journal that does not exist has none.
func ReadJournal(path string) ([]Record, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	records, _, err := parse(content)
	if err != nil {
		return nil, fmt.Errorf("journal %s: %w", path, err)
	}
	return records, nil
}

func (j *Journal) load(path string) error {
	content, err := io.ReadAll(j.file)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	records, whole, err := parse(content)
	if err != nil {
		return fmt.Errorf("journal %s: %w; move the file away to begin a new one, the steps look at the host anyway", path, err)
	}
	j.records = records
	if whole < len(content) {
		if err := j.file.Truncate(int64(whole)); err != nil {
			return fmt.Errorf("drop the journal's unfinished last line: %w", err)
		}
	}
	if _, err := j.file.Seek(int64(whole), io.SeekStart); err != nil {
		return fmt.Errorf("go to the journal's end: %w", err)
	}
	return nil
}

// parse returns the records of the whole lines, and how many bytes those lines take. Only the last line may be broken: that is
// what a power cut leaves.
func parse(content []byte) (records []Record, whole int, err error) {
	for whole < len(content) {
		end := bytes.IndexByte(content[whole:], '\n')
		if end < 0 {
			return records, whole, nil
		}
		var r Record
		if err := json.Unmarshal(content[whole:whole+end], &r); err != nil {
			if whole+end+1 == len(content) {
				return records, whole, nil
			}
			return nil, 0, fmt.Errorf("line %d is not a record: %w", len(records)+1, err)
		}
		records = append(records, r)
		whole += end + 1
	}
	return records, whole, nil
}

// Append writes a record and waits until it is on disk.
func (j *Journal) Append(r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode a journal record: %w", err)
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write to the journal (is the disk full?): %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("bring the journal to disk: %w", err)
	}
	j.records = append(j.records, r)
	return nil
}

// Records are all records so far, oldest first.
func (j *Journal) Records() []Record { return append([]Record(nil), j.records...) }

// Starts counts how often a step was started.
func (j *Journal) Starts(step string) int {
	n := 0
	for _, r := range j.records {
		if r.Step == step && r.Event == Started {
			n++
		}
	}
	return n
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

// syncFolder makes a new name in a folder survive a power cut.
func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open folder %s: %w", path, err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("bring folder %s to disk: %w", path, err)
	}
	return nil
}
