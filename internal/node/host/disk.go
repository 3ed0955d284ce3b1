package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

// Free is how many bytes root may still write to the file system that a folder of the host is on, or would be on.
func (h *Host) Free(folder string) (uint64, error) {
	var s syscall.Statfs_t
	for {
		err := syscall.Statfs(h.Path(folder), &s)
		if err == nil {
			return s.Bavail * uint64(s.Bsize), nil
		}
		if !errors.Is(err, syscall.ENOENT) || folder == "/" {
			return 0, fmt.Errorf("see how much room %s has: %w", folder, err)
		}
		folder = path.Dir(folder)
	}
}

// Size is how many bytes the files in a folder of the host take together; 0 where there is no such folder.
func (h *Host) Size(folder string) (uint64, error) {
	var size uint64
	err := filepath.WalkDir(h.Path(folder), func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil // it went away while we looked
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil {
			size += uint64(info.Size())
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("see how large %s is: %w", folder, err)
	}
	return size, nil
}

// FileSystem tells the file system that a folder of the host is on, or would be on, from others.
func (h *Host) FileSystem(folder string) (uint64, error) {
	var s syscall.Stat_t
	for {
		err := syscall.Stat(h.Path(folder), &s)
		if err == nil {
			return s.Dev, nil
		}
		if !errors.Is(err, syscall.ENOENT) || folder == "/" {
			return 0, fmt.Errorf("see which file system %s is on: %w", folder, err)
		}
		folder = path.Dir(folder)
	}
}
