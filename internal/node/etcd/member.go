// Package etcd asks the etcd member of a control plane, and takes snapshots of it.
package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"refit.dev/refit/internal/node/host"
	"refit.dev/refit/internal/node/staticpod"
	"refit.dev/refit/internal/node/task"
)

const (
	pki = "/etc/kubernetes/pki/etcd"
	// defaultEndpoint is where kubeadm's etcd listens on its own host.
	defaultEndpoint = "https://127.0.0.1:2379"
	// askDeadline bounds one question.
	askDeadline = 20 * time.Second
)

// DataDir is where kubeadm's etcd keeps its data.
const DataDir = "/var/lib/etcd"

// Local says whether the host runs an etcd member as kubeadm sets it up; otherwise etcd is external.
func Local(t *task.Task) (bool, error) { return t.Exists(path.Join(pki, "server.crt")) }

// LocalEndpoint is where the member of this host listens: the first of the addresses that its manifest names, which is the loopback one.
func LocalEndpoint(t *task.Task) (string, error) {
	folder, err := staticpod.Folder(t)
	if err != nil {
		return "", err
	}
	m, _, err := staticpod.Read(t, folder, staticpod.Etcd)
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(m.Flag("listen-client-urls"), ",")
	if first == "" {
		return defaultEndpoint, nil
	}
	return first, nil
}

// Ctl runs the bundle's etcdctl against an endpoint.
func Ctl(ctx context.Context, t *task.Task, endpoint string, deadline time.Duration, quiet bool, args ...string) ([]byte, error) {
	cert := path.Join(pki, "healthcheck-client")
	if _, err := os.Stat(t.Path(cert + ".crt")); errors.Is(err, os.ErrNotExist) {
		cert = path.Join(pki, "server")
	}
	args = append(args, "--endpoints", endpoint, "--cacert", path.Join(pki, "ca.crt"), "--cert", cert+".crt", "--key", cert+".key",
		"--command-timeout", deadline.String())
	return t.Run(ctx, host.Command{Program: t.Staged("bin/etcdctl"), Args: args, Deadline: deadline + 5*time.Second, Quiet: quiet})
}

// Status is what a member says of itself.
type Status struct {
	Member, Leader uint64
	Version        string
	Learner        bool
	Errors         []string
	DBSize         int64
}

// StatusOf asks the member at an endpoint.
func StatusOf(ctx context.Context, t *task.Task, endpoint string) (Status, error) {
	out, err := Ctl(ctx, t, endpoint, askDeadline, true, "endpoint", "status", "-w", "json")
	if err != nil {
		return Status{}, err
	}
	var answers []struct {
		Status struct {
			Header struct {
				MemberID uint64 `json:"member_id"`
			} `json:"header"`
			Version   string   `json:"version"`
			Leader    uint64   `json:"leader"`
			IsLearner bool     `json:"isLearner"`
			Errors    []string `json:"errors"`
			DBSize    int64    `json:"dbSize"`
		} `json:"Status"`
	}
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != 1 {
		return Status{}, fmt.Errorf("etcdctl endpoint status answered something unexpected: %s", out)
	}
	s := answers[0].Status
	return Status{Member: s.Header.MemberID, Leader: s.Leader, Version: s.Version, Learner: s.IsLearner, Errors: s.Errors, DBSize: s.DBSize}, nil
}

// Member is one of the cluster.
type Member struct {
	ID      uint64   `json:"ID"`
	Name    string   `json:"name"`
	URLs    []string `json:"clientURLs"`
	Learner bool     `json:"isLearner"`
}

// Members asks a member for all of them.
func Members(ctx context.Context, t *task.Task, endpoint string) ([]Member, error) {
	out, err := Ctl(ctx, t, endpoint, askDeadline, true, "member", "list", "-w", "json")
	if err != nil {
		return nil, err
	}
	var answer struct {
		Members []Member `json:"members"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, fmt.Errorf("etcdctl member list answered something unexpected: %w", err)
	}
	return answer.Members, nil
}

// Healthy asks a member to answer a read that needs the cluster's quorum.
func Healthy(ctx context.Context, t *task.Task, endpoint string) error {
	_, err := Ctl(ctx, t, endpoint, askDeadline, true, "endpoint", "health", "-w", "json")
	return err
}

// HandOver has the local member, where it leads, hand the lead to another healthy voter, so that its restart costs no election.
func HandOver(ctx context.Context, t *task.Task) error {
	endpoint, err := LocalEndpoint(t)
	if err != nil {
		return err
	}
	status, err := StatusOf(ctx, t, endpoint)
	if err != nil || status.Leader != status.Member {
		return err
	}
	members, err := Members(ctx, t, endpoint)
	if err != nil {
		return err
	}
	for _, m := range members {
		if m.ID == status.Member || m.Learner || len(m.URLs) == 0 || Healthy(ctx, t, m.URLs[0]) != nil {
			continue
		}
		_, err := Ctl(ctx, t, endpoint, askDeadline, false, "move-leader", fmt.Sprintf("%x", m.ID))
		return err
	}
	return nil
}
