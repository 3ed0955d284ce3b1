package oci

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/bundle"
)

// askTimeout bounds each question to a program.
const askTimeout = 30 * time.Second

var versionPattern = regexp.MustCompile(`v?[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*`)

// ask runs a program and gives what it printed.
func ask(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = []string{"HOME=/nonexistent", "PATH=/usr/bin:/bin"}
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", fmt.Errorf("%s %s gave no answer within %s", program, strings.Join(args, " "), askTimeout)
	}
	if err != nil {
		return "", fmt.Errorf("run %s %s (it must be a working program for this machine's architecture): %w%s",
			program, strings.Join(args, " "), err, tail(out))
	}
	return string(out), nil
}

func tail(out []byte) string {
	text := strings.TrimSpace(string(out))
	if text == "" {
		return ""
	}
	if len(text) > 300 {
		text = "…" + text[len(text)-300:]
	}
	return ": " + text
}

// askVersion gives the first version that a program's answer holds.
func askVersion(ctx context.Context, program string, args ...string) (string, error) {
	out, err := ask(ctx, program, args...)
	if err != nil {
		return "", err
	}
	version := versionPattern.FindString(out)
	if version == "" {
		return "", fmt.Errorf("%s %s names no version: %q", program, strings.Join(args, " "), strings.TrimSpace(out))
	}
	return version, nil
}

// checkKubernetes makes sure that the programs are the version that the bundle is to be for.
func checkKubernetes(ctx context.Context, from, version string) error {
	questions := []struct {
		program string
		args    []string
	}{
		{"kubeadm", []string{"version", "-o", "short"}},
		{"kubelet", []string{"--version"}},
		{"kubectl", []string{"version", "--client"}},
	}
	for _, q := range questions {
		got, err := askVersion(ctx, filepath.Join(from, "bin", q.program), q.args...)
		if err != nil {
			return err
		}
		if got != version {
			return fmt.Errorf("%s is %s, but the bundle is to be %s: put that version there, or pass --version %s",
				filepath.Join(from, "bin", q.program), got, version, got)
		}
	}
	return nil
}

// listImages asks kubeadm which images the version needs.
func listImages(ctx context.Context, from, version string) ([]string, error) {
	out, err := ask(ctx, filepath.Join(from, "bin", "kubeadm"), "config", "images", "list", "--kubernetes-version", version)
	if err != nil {
		return nil, err
	}
	var images []string
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, ":") && !strings.ContainsAny(line, " \t") { // the rest is warnings
			images = append(images, line)
		}
	}
	if len(images) == 0 {
		return nil, errors.New("kubeadm config images list printed no image")
	}
	return images, nil
}

// components gives the version of each component: programs are asked; etcd, CoreDNS and pause are what kubeadm installs.
func components(ctx context.Context, from, version string, cni []string, images []string) ([]v1alpha1.Component, error) {
	found := []v1alpha1.Component{{Name: bundle.ComponentKubernetes, Version: version}}
	questions := []struct {
		component, program string
		args               []string
	}{
		{bundle.ComponentContainerd, "bin/containerd", []string{"--version"}},
		{bundle.ComponentRunc, "bin/runc", []string{"--version"}},
		{bundle.ComponentCNI, cni[0], nil}, // a plugin that is called without CNI_COMMAND says what it is
	}
	for _, q := range questions {
		got, err := askVersion(ctx, filepath.Join(from, filepath.FromSlash(q.program)), q.args...)
		if err != nil {
			return nil, err
		}
		found = append(found, v1alpha1.Component{Name: q.component, Version: got})
	}
	for _, name := range []string{bundle.ComponentEtcd, bundle.ComponentCoreDNS, bundle.ComponentPause} {
		if tag := tagOf(images, name); tag != "" {
			found = append(found, v1alpha1.Component{Name: name, Version: tag})
		}
	}
	return found, checkEtcdctl(ctx, from, tagOf(images, bundle.ComponentEtcd))
}

// checkEtcdctl makes sure that the snapshot programs fit the etcd whose snapshots they take.
func checkEtcdctl(ctx context.Context, from, etcd string) error {
	for _, program := range []string{"etcdctl", "etcdutl"} {
		got, err := askVersion(ctx, filepath.Join(from, "bin", program), "version")
		if err != nil {
			return err
		}
		if etcd != "" && minorOf(got) != minorOf(etcd) {
			return fmt.Errorf("%s is %s, but kubeadm installs etcd %s: put the %s of that etcd there", filepath.Join(from, "bin", program), got, etcd, program)
		}
	}
	return nil
}

// tagOf is the tag of the image whose last path element is the name.
func tagOf(images []string, name string) string {
	for _, image := range images {
		repository, tag, tagged := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
		if tagged && repository == name {
			return tag
		}
	}
	return ""
}

// minorOf cuts a version to its first two numbers: v1.36 of v1.36.3.
func minorOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 3 {
		return version
	}
	return parts[0] + "." + parts[1]
}
