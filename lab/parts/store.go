package parts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Store keeps built parts, each in a folder that is either complete or absent.
type Store struct {
	root string
	// mirror is the URL that the makers' own builds are below; empty means that everything is built.
	mirror string
}

// OpenStore opens the store in the user's cache folder; REFIT_CACHE names another place.
func OpenStore() (*Store, error) {
	root := os.Getenv("REFIT_CACHE")
	if root == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("find the user's cache folder (set REFIT_CACHE to name another place): %w", err)
		}
		root = filepath.Join(cache, "refit")
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("make the cache folder: %w", err)
	}
	return &Store{root: root, mirror: mirrorFromEnvironment()}, nil
}

// Root is the store's folder.
func (s *Store) Root() string { return s.root }

// Path is where a file of a part is, or will be once it is built.
func (s *Store) Path(p Part, file string) string {
	return filepath.Join(s.root, "parts", p.folder(), file)
}

// Dir is the part's folder.
func (s *Store) Dir(p Part) string { return filepath.Join(s.root, "parts", p.folder()) }

// Has says whether the part is built.
func (s *Store) Has(p Part) bool {
	_, err := os.Stat(s.Dir(p))
	return err == nil
}

// make builds one part unless it is there. Two processes that want the same part build it once.
func (s *Store) make(ctx context.Context, p Part, note func(string)) error {
	unlock, err := s.lock(ctx, p, note)
	if err != nil {
		return err
	}
	defer unlock()
	if s.Has(p) {
		return nil
	}
	logPath := s.LogPath(p)
	if err := os.MkdirAll(filepath.Dir(logPath), 0o755); err != nil {
		return err
	}
	log, err := os.Create(logPath)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := s.buildInto(ctx, p, log, note); err != nil {
		return fmt.Errorf("build %s (whole log: %s): %w", p, logPath, err)
	}
	return nil
}

// LogPath is the log of the part's build.
func (s *Store) LogPath(p Part) string {
	return filepath.Join(s.root, "logs", p.Name+"-"+p.Version+".log")
}

// buildInto runs the recipe in a scratch folder and publishes the result by one rename.
func (s *Store) buildInto(ctx context.Context, p Part, log *os.File, note func(string)) (err error) {
	if err := os.MkdirAll(filepath.Dir(s.Dir(p)), 0o755); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(s.Dir(p)), ".build-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	j := &job{dir: filepath.Join(scratch, "files"), work: filepath.Join(scratch, "work"), note: note,
		run: func(ctx context.Context, c command) error { return runLogged(ctx, c, log) }}
	for _, d := range []string{j.dir, j.work} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
	}
	if err := s.downloadOrBuild(ctx, p, j, log); err != nil {
		return err
	}
	for _, f := range p.Files {
		if _, err := os.Stat(filepath.Join(j.dir, f)); err != nil {
			return fmt.Errorf("the build left no %s: %w", f, err)
		}
	}
	return os.Rename(j.dir, s.Dir(p))
}

// lock takes the part's lock, waiting for another process that builds it.
func (s *Store) lock(ctx context.Context, p Part, note func(string)) (func(), error) {
	dir := filepath.Join(s.root, "locks")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, p.Name+"-"+p.Version), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", p, err)
		}
		note("another process is building it")
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}
