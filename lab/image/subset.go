package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// Keep says whether a file of a root file system (its path without leading "./") is wanted.
type Keep func(path string) bool

// Subset is the content of a layer: those files of the root file system in the archive at rootfs that keep wants.
func Subset(rootfs string, keep Keep) func(io.Writer) error {
	return func(w io.Writer) error {
		out := tar.NewWriter(w)
		return errors.Join(CopyArchive(out, rootfs, keep), out.Close())
	}
}

// CopyArchive appends the wanted entries of the archive file at source to w.
func CopyArchive(w *tar.Writer, source string, keep Keep) error {
	f, err := os.Open(source)
	if err != nil {
		return err
	}
	defer f.Close()
	in := tar.NewReader(f)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", source, err)
		}
		header.Name = strings.TrimPrefix(path.Clean(header.Name), "/")
		if header.Typeflag == tar.TypeDir {
			header.Name += "/"
		}
		if !keep(strings.TrimSuffix(header.Name, "/")) {
			continue
		}
		if err := w.WriteHeader(header); err != nil {
			return fmt.Errorf("copy %s: %w", header.Name, err)
		}
		if _, err := io.Copy(w, in); err != nil {
			return fmt.Errorf("copy %s: %w", header.Name, err)
		}
	}
}

// ForPacketFilter keeps what kube-proxy calls: iptables with its extensions, conntrack, and the libraries of both.
func ForPacketFilter(file string) bool {
	for _, link := range []string{"bin", "sbin", "lib", "lib64", "lib32", "libx32"} {
		if file == link {
			return true
		}
	}
	dir, base := path.Split(file)
	switch {
	case dir == "usr/sbin/":
		return strings.HasPrefix(base, "iptables") || strings.HasPrefix(base, "ip6tables") ||
			strings.HasPrefix(base, "xtables-") || base == "conntrack"
	case dir == "etc/alternatives/":
		return strings.HasPrefix(base, "iptables") || strings.HasPrefix(base, "ip6tables")
	case strings.HasSuffix(dir, "/xtables/"), dir == "usr/lib64/":
		return true
	case strings.HasPrefix(dir, "usr/lib/") && strings.HasSuffix(dir, "-linux-gnu/"):
		return isPacketFilterLibrary(base)
	}
	return false
}

// ForCurl keeps curl, a shell, and every library.
func ForCurl(file string) bool {
	for _, link := range []string{"bin", "sbin", "lib", "lib64"} {
		if file == link {
			return true
		}
	}
	dir, base := path.Split(file)
	switch {
	case dir == "usr/bin/":
		return base == "curl" || base == "sh" || base == "dash" || base == "date" || base == "printf" || base == "cat"
	case dir == "usr/lib64/", strings.HasPrefix(dir, "etc/ssl/"), dir == "etc/" && (base == "passwd" || base == "group" || base == "nsswitch.conf"):
		return true
	case strings.HasPrefix(dir, "usr/lib/") && strings.HasSuffix(dir, "-linux-gnu/"):
		return strings.Contains(base, ".so")
	}
	return false
}

func isPacketFilterLibrary(base string) bool {
	for _, prefix := range []string{"ld-linux", "libc.so", "libm.so", "libdl", "libpthread", "libmnl", "libnftnl", "libxtables",
		"libip4tc", "libip6tc", "libnfnetlink", "libnetfilter_conntrack"} {
		if strings.HasPrefix(base, prefix) {
			return true
		}
	}
	return false
}
