// Package replace puts new files in the place of old ones so that a path is, at every instant, the whole old or the whole new
// file, and the old one is kept beside it.
package replace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Disk is the changes to a file system that replacing a file is made of. Each either happens or does not.
type Disk interface {
	// WriteTemp writes content to a new file, sets its mode, and waits until it is on disk. What has the name before loses only
	// that name: an attempt that was cut off may have left a second name of a file that is in use or kept.
	WriteTemp(path string, content io.Reader, mode os.FileMode) error
	// Link makes newPath a second name of oldPath's file.
	Link(oldPath, newPath string) error
	// Rename puts the file at oldPath in the place of whatever is at newPath.
	Rename(oldPath, newPath string) error
	// Remove removes a name; that it does not exist is not an error.
	Remove(path string) error
	// SyncFolder waits until the names in a folder are on disk.
	SyncFolder(path string) error
}

// OS is the Disk of the operating system.
type OS struct{}

var _ Disk = OS{}

// WriteTemp removes the name, writes, sets the mode, and syncs.
func (d OS) WriteTemp(path string, content io.Reader, mode os.FileMode) (err error) {
	if err := d.Remove(path); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := io.Copy(file, content); err != nil {
		return fmt.Errorf("write %s (is the disk full?): %w", path, err)
	}
	if err := file.Chmod(mode); err != nil {
		return err
	}
	return file.Sync()
}

// Link makes a hard link.
func (OS) Link(oldPath, newPath string) error { return os.Link(oldPath, newPath) }

// Rename renames.
func (OS) Rename(oldPath, newPath string) error { return os.Rename(oldPath, newPath) }

// Remove removes.
func (OS) Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// SyncFolder syncs a folder.
func (OS) SyncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Sum is the SHA-256 of the file at path in lower-case hexadecimal, empty where there is no such file.
func Sum(path string) (string, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// resolve follows symbolic links, so that the file behind a link is replaced and the link stays.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return path, fmt.Errorf("find what %s is a link to: %w", path, err)
	}
	return real, nil
}
