package fakehost

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// container is a static pod's container; a host has at most one running of each name.
type container struct {
	id, name, pod, image string
	running              bool
	created              int64
}

// Runtime is a container runtime of static pods.
type Runtime struct {
	runtime.UnimplementedRuntimeServiceServer
	runtime.UnimplementedImageServiceServer

	mu         sync.Mutex
	power      *Power
	containers []*container
	next       int64
	// images that it has; pulls counts what was fetched.
	images map[string]bool
	// Broken images cannot be pulled.
	Broken map[string]bool
	// Driver is the cgroup driver that it tells.
	Driver runtime.CgroupDriver
	// Name and Release are what it calls itself.
	Name, Release string
	// changed is told, without the lock, when a container starts or ends. asked is told before it is asked what runs.
	changed, asked func()
}

// serve answers at a socket until the server is stopped.
func (r *Runtime) serve(socket string) (stop func(), err error) {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer()
	runtime.RegisterRuntimeServiceServer(server, r)
	runtime.RegisterImageServiceServer(server, r)
	go func() {
		// It ends with an error when it is stopped.
		_ = server.Serve(listener)
	}()
	return server.Stop, nil
}

// Running is the image that the container of a name runs, empty where none runs.
func (r *Runtime) Running(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.containers {
		if c.name == name && c.running {
			return c.image
		}
	}
	return ""
}

// start starts a container in the place of any that runs under the name.
func (r *Runtime) start(name, pod, image string) {
	r.mu.Lock()
	for _, c := range r.containers {
		if c.name == name {
			c.running = false
		}
	}
	r.next++
	r.containers = append(r.containers, &container{id: fmt.Sprintf("%s-%d", name, r.next), name: name, pod: pod, image: image, running: true,
		created: time.Now().UnixNano()})
	r.mu.Unlock()
	r.changed()
}

// stopAll ends every container, as a power cut does.
func (r *Runtime) stopAll() {
	r.mu.Lock()
	for _, c := range r.containers {
		c.running = false
	}
	r.mu.Unlock()
	r.changed()
}

// Version says what it is.
func (r *Runtime) Version(context.Context, *runtime.VersionRequest) (*runtime.VersionResponse, error) {
	return &runtime.VersionResponse{RuntimeName: r.Name, RuntimeVersion: r.Release}, nil
}

// Status says that it is ready.
func (r *Runtime) Status(context.Context, *runtime.StatusRequest) (*runtime.StatusResponse, error) {
	return &runtime.StatusResponse{Status: &runtime.RuntimeStatus{Conditions: []*runtime.RuntimeCondition{{Type: runtime.RuntimeReady, Status: true}}}}, nil
}

// RuntimeConfig tells the cgroup driver.
func (r *Runtime) RuntimeConfig(context.Context, *runtime.RuntimeConfigRequest) (*runtime.RuntimeConfigResponse, error) {
	return &runtime.RuntimeConfigResponse{Linux: &runtime.LinuxRuntimeConfiguration{CgroupDriver: r.Driver}}, nil
}

// ListContainers lists those of a pod and name.
func (r *Runtime) ListContainers(_ context.Context, req *runtime.ListContainersRequest) (*runtime.ListContainersResponse, error) {
	r.asked()
	r.mu.Lock()
	defer r.mu.Unlock()
	labels := req.GetFilter().GetLabelSelector()
	out := &runtime.ListContainersResponse{}
	for _, c := range r.containers {
		if labels["io.kubernetes.pod.name"] != c.pod || labels["io.kubernetes.container.name"] != c.name {
			continue
		}
		state := runtime.ContainerState_CONTAINER_EXITED
		if c.running {
			state = runtime.ContainerState_CONTAINER_RUNNING
		}
		out.Containers = append(out.Containers, &runtime.Container{Id: c.id, State: state, CreatedAt: c.created,
			Image: &runtime.ImageSpec{Image: "sha256:0", UserSpecifiedImage: c.image}})
	}
	return out, nil
}

// StopContainer ends a container.
func (r *Runtime) StopContainer(_ context.Context, req *runtime.StopContainerRequest) (*runtime.StopContainerResponse, error) {
	if !r.power.spend() {
		return nil, ErrPower
	}
	r.mu.Lock()
	for _, c := range r.containers {
		if c.id == req.ContainerId {
			c.running = false
		}
	}
	r.mu.Unlock()
	r.changed()
	return &runtime.StopContainerResponse{}, nil
}

// ListPodSandbox has none.
func (r *Runtime) ListPodSandbox(context.Context, *runtime.ListPodSandboxRequest) (*runtime.ListPodSandboxResponse, error) {
	return &runtime.ListPodSandboxResponse{}, nil
}

// ImageStatus says whether it has an image.
func (r *Runtime) ImageStatus(_ context.Context, req *runtime.ImageStatusRequest) (*runtime.ImageStatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.images[req.Image.Image] {
		return &runtime.ImageStatusResponse{Image: &runtime.Image{Id: req.Image.Image}}, nil
	}
	return &runtime.ImageStatusResponse{}, nil
}

// PullImage fetches an image.
func (r *Runtime) PullImage(_ context.Context, req *runtime.PullImageRequest) (*runtime.PullImageResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Broken[req.Image.Image] {
		return nil, fmt.Errorf("failed to resolve %s: no such host", req.Image.Image)
	}
	r.images[req.Image.Image] = true
	return &runtime.PullImageResponse{ImageRef: req.Image.Image}, nil
}

// Has says whether it has an image.
func (r *Runtime) Has(image string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.images[image]
}
