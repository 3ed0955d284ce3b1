package replace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// tempSuffix marks a copy that is not complete yet. The leading dot keeps it out of folders that a service reads as a whole.
const tempSuffix = ".refit-new"

// Replacer replaces files on a Disk.
type Replacer struct {
	Disk Disk
}

// File puts a copy of the file source at target, and keeps what was there under version. See Content.
func (r Replacer) File(source, target, version string, mode os.FileMode) error {
	if err := r.Stage(source, target, mode); err != nil {
		return err
	}
	return r.Commit(target, version)
}

// Content puts a file of the given content at target, and keeps what was there as Kept(target, version); an empty version
// keeps nothing. It may be cut off anywhere and begun again: target is always whole, and what is kept is never the new file.
func (r Replacer) Content(content []byte, target, version string, mode os.FileMode) error {
	if err := r.stage(bytes.NewReader(content), target, mode); err != nil {
		return err
	}
	return r.Commit(target, version)
}

// Stage does the slow half of File: it writes the copy beside target, which stays as it is.
func (r Replacer) Stage(source, target string, mode os.FileMode) error {
	file, err := os.Open(source)
	if err != nil {
		return fmt.Errorf("open the new %s: %w", filepath.Base(target), err)
	}
	defer file.Close()
	return r.stage(file, target, mode)
}

func (r Replacer) stage(content io.Reader, target string, mode os.FileMode) error {
	target, err := resolve(target)
	if err != nil {
		return err
	}
	temp := tempOf(target)
	if err := r.Disk.WriteTemp(temp, content, mode); err != nil {
		return fmt.Errorf("write the new %s: %w", target, errors.Join(err, r.Disk.Remove(temp)))
	}
	return nil
}

// Commit does the quick half of File: it puts the staged copy in the place of target.
func (r Replacer) Commit(target, version string) error {
	target, err := resolve(target)
	if err != nil {
		return err
	}
	temp, folder := tempOf(target), filepath.Dir(target)
	if err := r.keep(temp, target, version); err != nil {
		return errors.Join(err, r.Disk.Remove(temp))
	}
	if err := r.Disk.Rename(temp, target); err != nil {
		return fmt.Errorf("put the new %s in its place: %w", target, errors.Join(err, r.Disk.Remove(temp)))
	}
	if err := r.Disk.SyncFolder(folder); err != nil {
		return fmt.Errorf("bring folder %s to disk: %w", folder, err)
	}
	return nil
}

// StagedSum is the checksum of the copy that Stage has written for target, empty where there is none.
func StagedSum(target string) (string, error) {
	target, err := resolve(target)
	if err != nil {
		return "", err
	}
	return Sum(tempOf(target))
}

func tempOf(target string) string {
	return filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+tempSuffix)
}

// keep gives target's file a second name, unless it already is the new file: then what is kept is from before, and stays.
func (r Replacer) keep(temp, target, version string) error {
	if version == "" {
		return nil
	}
	kept := Kept(target, version)
	newSum, err := Sum(temp)
	if err != nil {
		return fmt.Errorf("read the new %s: %w", target, err)
	}
	oldSum, err := Sum(target)
	if err != nil {
		return fmt.Errorf("read the old %s: %w", target, err)
	}
	if oldSum == "" || oldSum == newSum {
		return nil
	}
	link := tempOf(kept)
	if err := r.Disk.Remove(link); err != nil {
		return fmt.Errorf("remove what an earlier attempt left at %s: %w", link, err)
	}
	if err := r.Disk.Link(target, link); err != nil {
		return fmt.Errorf("keep the old %s: %w", target, err)
	}
	if err := r.Disk.Rename(link, kept); err != nil {
		return fmt.Errorf("keep the old %s as %s: %w", target, kept, err)
	}
	// Renaming one of two names of the same file over the other does nothing, and leaves both.
	if err := r.Disk.Remove(link); err != nil {
		return fmt.Errorf("remove %s: %w", link, err)
	}
	return nil
}

// Restore puts the file that was kept under version back at target. It stays kept, so this may be begun again.
func (r Replacer) Restore(target, version string) error {
	target, err := resolve(target)
	if err != nil {
		return err
	}
	kept := Kept(target, version)
	if _, err := os.Stat(kept); err != nil {
		return fmt.Errorf("the old %s is not there to be put back: %w", filepath.Base(target), err)
	}
	link := tempOf(target)
	if err := r.Disk.Remove(link); err != nil {
		return fmt.Errorf("remove what an earlier attempt left at %s: %w", link, err)
	}
	if err := r.Disk.Link(kept, link); err != nil {
		return fmt.Errorf("put the old %s back: %w", target, err)
	}
	if err := r.Disk.Rename(link, target); err != nil {
		return fmt.Errorf("put the old %s back: %w", target, err)
	}
	// As above: link is still there where kept and target were one file.
	if err := r.Disk.Remove(link); err != nil {
		return fmt.Errorf("remove %s: %w", link, err)
	}
	return r.Disk.SyncFolder(filepath.Dir(target))
}

// Kept is the path under which the file at target, of the version, is kept. Target must not be a symbolic link.
func Kept(target, version string) string { return target + ".refit-" + version }
