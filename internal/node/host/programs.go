package host

import (
	"context"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"time"
)

// The services whose units say where their programs are.
const (
	KubeletUnit    = "kubelet.service"
	ContainerdUnit = "containerd.service"
)

// Find is the path of a program: itself where it names a folder, otherwise the first in the host's usual folders.
func (h *Host) Find(program string) (string, error) {
	if strings.Contains(program, "/") {
		return program, nil
	}
	for _, dir := range strings.Split(searchPath, ":") {
		candidate := path.Join(dir, program)
		if info, err := os.Stat(h.Path(candidate)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("program %s is in none of %s", program, searchPath)
}

// ServiceProgram is the program that a unit starts.
func (h *Host) ServiceProgram(ctx context.Context, unit string) (string, error) {
	program, err := h.Systemd.Program(ctx, unit)
	if err != nil {
		return "", err
	}
	if program == "" {
		return "", fmt.Errorf("%s starts no program (no ExecStart): is it installed as a systemd service on this host?", unit)
	}
	return program, nil
}

// Beside is where a program belongs: where it is found in the host's usual folders, otherwise beside another one.
func (h *Host) Beside(other, program string) string {
	beside := path.Join(path.Dir(other), program)
	if ok, err := h.Exists(beside); err == nil && ok {
		return beside
	}
	if found, err := h.Find(program); err == nil {
		return found
	}
	return beside
}

// versionDeadline bounds `program --version`.
const versionDeadline = 20 * time.Second

var versionWord = regexp.MustCompile(`^v?[0-9]+\.[0-9]+`)

// ProgramVersion is the first word that looks like a version in the first line that a program prints with the arguments, with a
// leading v: v1.36.3. It is empty where the program names none.
func (h *Host) ProgramVersion(ctx context.Context, program string, args ...string) (string, error) {
	out, err := h.Run(ctx, Command{Program: program, Args: args, Deadline: versionDeadline, Quiet: true})
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", program, err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	for _, word := range strings.Fields(line) {
		if versionWord.MatchString(word) {
			return "v" + strings.TrimPrefix(word, "v"), nil
		}
	}
	return "", nil
}
