// Package image makes container images out of files on disk, and pushes them to a registry.
package image

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// File is one file of an image.
type File struct {
	// Path is where it lies, without the leading slash.
	Path string
	// Source is the file on disk that it is a copy of; empty where Content or Link says what it is.
	Source string
	// Content is what is in it where there is no Source.
	Content string
	// Link makes it a symbolic link to this path.
	Link string
	// Mode is the permissions; 0 means 0755.
	Mode fs.FileMode
}

// epoch is every file's time, so that the same files always make the same image.
var epoch = time.Unix(0, 0).UTC()

// WriteFiles appends the files to an archive.
func WriteFiles(w *tar.Writer, files []File) error {
	for _, f := range files {
		if err := f.write(w); err != nil {
			return fmt.Errorf("pack %s: %w", f.Path, err)
		}
	}
	return nil
}

func (f File) write(w *tar.Writer) error {
	mode := f.Mode
	if mode == 0 {
		mode = 0o755
	}
	header := &tar.Header{Name: f.Path, Mode: int64(mode.Perm()), ModTime: epoch, Typeflag: tar.TypeReg, Size: int64(len(f.Content))}
	var content io.Reader = bytes.NewReader([]byte(f.Content))
	switch {
	case f.Link != "":
		header.Typeflag, header.Linkname = tar.TypeSymlink, f.Link
	case f.Source != "":
		source, err := os.Open(f.Source)
		if err != nil {
			return err
		}
		defer source.Close()
		info, err := source.Stat()
		if err != nil {
			return err
		}
		header.Size, content = info.Size(), source
	}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	if header.Typeflag != tar.TypeReg {
		return nil
	}
	_, err := io.Copy(w, content)
	return err
}
