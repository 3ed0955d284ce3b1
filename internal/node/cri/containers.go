package cri

import (
	"context"
	"fmt"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The labels that the kubelet puts on containers.
const (
	labelPod       = "io.kubernetes.pod.name"
	labelNamespace = "io.kubernetes.pod.namespace"
	labelContainer = "io.kubernetes.container.name"
)

// Container is a container of a pod.
type Container struct {
	ID string
	// Image as the pod's spec names it, where the runtime tells.
	Image string
	// Created is when it was made.
	Created time.Time
	Running bool
}

// Containers are those of the name in pods of kube-system whose pod's name is given, the newest first.
func (c *Client) Containers(ctx context.Context, pod, name string) ([]Container, error) {
	list, err := c.runtime.ListContainers(ctx, &runtime.ListContainersRequest{Filter: &runtime.ContainerFilter{
		LabelSelector: map[string]string{labelPod: pod, labelNamespace: "kube-system", labelContainer: name}}})
	if err != nil {
		return nil, fmt.Errorf("list the containers of pod %s: %w", pod, err)
	}
	var found []Container
	for _, item := range list.Containers {
		container := Container{ID: item.Id, Image: item.GetImage().GetUserSpecifiedImage(), Created: time.Unix(0, item.CreatedAt),
			Running: item.State == runtime.ContainerState_CONTAINER_RUNNING}
		if container.Image == "" {
			container.Image = item.GetImage().GetImage()
		}
		i := 0
		for i < len(found) && found[i].Created.After(container.Created) {
			i++
		}
		found = append(found[:i], append([]Container{container}, found[i:]...)...)
	}
	return found, nil
}

// Running is the newest running container of the name in the pod, nil where none runs.
func (c *Client) Running(ctx context.Context, pod, name string) (*Container, error) {
	all, err := c.Containers(ctx, pod, name)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Running {
			return &all[i], nil
		}
	}
	return nil, nil
}

// LogPath is the file that a container's output goes to.
func (c *Client) LogPath(ctx context.Context, id string) (string, error) {
	s, err := c.runtime.ContainerStatus(ctx, &runtime.ContainerStatusRequest{ContainerId: id})
	if err != nil {
		return "", fmt.Errorf("ask for the status of container %s: %w", id, err)
	}
	return s.GetStatus().GetLogPath(), nil
}

// Stop asks a container to end and kills it after the grace period. It returns when the container has ended.
func (c *Client) Stop(ctx context.Context, id string, grace time.Duration) error {
	_, err := c.runtime.StopContainer(ctx, &runtime.StopContainerRequest{ContainerId: id, Timeout: int64(grace.Seconds())})
	if err != nil {
		return fmt.Errorf("stop container %s: %w", id, err)
	}
	return nil
}

// StopPod asks every container of a pod of kube-system to end, kills what is left after the grace period, and ends the pod's sandboxes.
func (c *Client) StopPod(ctx context.Context, pod, container string, grace time.Duration) error {
	all, err := c.Containers(ctx, pod, container)
	if err != nil {
		return err
	}
	for _, one := range all {
		if !one.Running {
			continue
		}
		if err := c.Stop(ctx, one.ID, grace); err != nil {
			return err
		}
	}
	boxes, err := c.runtime.ListPodSandbox(ctx, &runtime.ListPodSandboxRequest{Filter: &runtime.PodSandboxFilter{
		State:         &runtime.PodSandboxStateValue{State: runtime.PodSandboxState_SANDBOX_READY},
		LabelSelector: map[string]string{labelPod: pod, labelNamespace: "kube-system"}}})
	if err != nil {
		return fmt.Errorf("list the sandboxes of pod %s: %w", pod, err)
	}
	for _, box := range boxes.Items {
		if _, err := c.runtime.StopPodSandbox(ctx, &runtime.StopPodSandboxRequest{PodSandboxId: box.Id}); err != nil {
			return fmt.Errorf("stop the sandbox of pod %s: %w", pod, err)
		}
	}
	return nil
}
