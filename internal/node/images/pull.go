// Package images pulls a version's images while the node is still in service.
package images

import (
	"context"
	"fmt"
	"strings"
	"time"

	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/node/controlplane"
	"refit.dev/refit/internal/node/cri"
	"refit.dev/refit/internal/node/task"
)

const (
	// attempts and firstPause bound the retries of one image: 5, 10, 20 s.
	attempts   = 4
	firstPause = 5 * time.Second
	// pullDeadline bounds one attempt.
	pullDeadline = 4 * time.Minute
)

// onWorkers are the images that a node without a control plane runs.
var onWorkers = []string{"kube-proxy", "pause", "coredns"}

// Pull has the container runtime fetch the images that the node's role needs.
type Pull struct{ *task.Task }

// Name is the step's.
func (Pull) Name() string { return string(v1alpha1.StepPullImages) }

// Deadline bounds all pulls.
func (p Pull) Deadline() time.Duration { return p.Spec.Deadline(v1alpha1.StepPullImages) }

// Done asks the container runtime for each image.
func (p Pull) Done(ctx context.Context) (bool, string, error) {
	wanted, missing, err := p.missing(ctx)
	if err != nil {
		return false, "", err
	}
	if len(missing) > 0 {
		return false, "missing: " + strings.Join(missing, ", "), nil
	}
	return true, fmt.Sprintf("the container runtime has the %d images of %s", len(wanted), p.Spec.Version), nil
}

// Run pulls what is missing.
func (p Pull) Run(ctx context.Context) (string, error) {
	wanted, missing, err := p.missing(ctx)
	if err != nil {
		return "", err
	}
	err = p.WithCRI(func(c *cri.Client) error {
		for _, image := range missing {
			if err := p.pull(ctx, c, image); err != nil {
				return fmt.Errorf("%w. The node is unchanged: check that the node reaches the registry (`crictl pull %s` on it), then retry", err, image)
			}
		}
		return nil
	})
	return fmt.Sprintf("pulled %d images of %s, %d were there", len(missing), p.Spec.Version, len(wanted)-len(missing)), err
}

func (p Pull) pull(ctx context.Context, c *cri.Client, image string) error {
	began := p.Clock.Now()
	always := func(error) bool { return true }
	err := p.Retry(ctx, "pull of "+image, attempts, firstPause, always, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, pullDeadline)
		defer cancel()
		return c.Pull(ctx, image)
	})
	if err == nil {
		p.Log.Say("pulled %s in %s", image, p.Clock.Since(began).Round(time.Millisecond))
	}
	return err
}

// missing are those of the wanted images that the container runtime does not have.
func (p Pull) missing(ctx context.Context) (wanted, missing []string, err error) {
	if wanted, err = p.wanted(ctx); err != nil {
		return nil, nil, err
	}
	err = p.WithCRI(func(c *cri.Client) error {
		for _, image := range wanted {
			has, err := c.HasImage(ctx, image)
			if err != nil {
				return err
			}
			if !has {
				missing = append(missing, image)
			}
		}
		return nil
	})
	return wanted, missing, err
}

// wanted asks kubeadm's configuration in the cluster, which every node may read: kubeadm takes the images from where that says.
func (p Pull) wanted(ctx context.Context) (wanted []string, err error) {
	always := func(error) bool { return true }
	err = p.Retry(ctx, "reading kubeadm's configuration", attempts, firstPause, always, func(ctx context.Context) error {
		cluster, err := controlplane.ClusterConfiguration(ctx, p.Task)
		if err == nil {
			wanted, err = Names(p.Task, cluster)
		}
		return err
	})
	return wanted, err
}

// baseName is "coredns" of "registry.k8s.io/coredns/coredns:v1.14.2".
func baseName(image string) string {
	if i := strings.LastIndex(image, "/"); i >= 0 {
		image = image[i+1:]
	}
	name, _, _ := strings.Cut(image, "@")
	name, _, _ = strings.Cut(name, ":")
	return name
}
