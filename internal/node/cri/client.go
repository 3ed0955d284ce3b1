// Package cri asks the host's container runtime over the Container Runtime Interface.
package cri

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// DefaultEndpoint is containerd's.
const DefaultEndpoint = "unix:///run/containerd/containerd.sock"

// Client asks one runtime.
type Client struct {
	conn    *grpc.ClientConn
	runtime runtime.RuntimeServiceClient
	images  runtime.ImageServiceClient
}

// maxMessage bounds an answer; a node with many containers and images has long lists.
const maxMessage = 16 << 20

// Dial makes a client of the runtime at an endpoint such as DefaultEndpoint, on the host whose root folder is given. It connects
// when it is first asked something.
func Dial(root, endpoint string) (*Client, error) {
	socket, ok := strings.CutPrefix(endpoint, "unix://")
	if !ok {
		socket = endpoint
	}
	conn, err := grpc.NewClient("unix://"+filepath.Join(root, socket),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)))
	if err != nil {
		return nil, fmt.Errorf("container runtime at %s: %w", endpoint, err)
	}
	return &Client{conn: conn, runtime: runtime.NewRuntimeServiceClient(conn), images: runtime.NewImageServiceClient(conn)}, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Version is the runtime's name and version, e.g. "containerd", "v2.2.9".
func (c *Client) Version(ctx context.Context) (name, version string, err error) {
	v, err := c.runtime.Version(ctx, &runtime.VersionRequest{})
	if err != nil {
		return "", "", fmt.Errorf("ask the container runtime for its version: %w", err)
	}
	return v.RuntimeName, v.RuntimeVersion, nil
}

// Ready says what keeps the runtime from running containers; nothing means that it can.
func (c *Client) Ready(ctx context.Context) error {
	s, err := c.runtime.Status(ctx, &runtime.StatusRequest{})
	if err != nil {
		return fmt.Errorf("ask the container runtime for its status: %w", err)
	}
	for _, condition := range s.GetStatus().GetConditions() {
		if condition.Type == runtime.RuntimeReady && !condition.Status {
			return fmt.Errorf("the container runtime is not ready: %s: %s", condition.Reason, condition.Message)
		}
	}
	return nil
}

// CgroupDriver is "systemd" or "cgroupfs", empty where the runtime does not tell.
func (c *Client) CgroupDriver(ctx context.Context) (string, error) {
	r, err := c.runtime.RuntimeConfig(ctx, &runtime.RuntimeConfigRequest{})
	if err != nil {
		return "", fmt.Errorf("ask the container runtime for its cgroup driver: %w", err)
	}
	return strings.ToLower(r.GetLinux().GetCgroupDriver().String()), nil
}
