package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

func newStep(a *app) *cobra.Command {
	cmd := parent("step", "Ask for the next step of an upgrade in Manual mode",
		newStepOf(a, v1alpha1.RequestControlPlane, "control-plane NODE", "Upgrade one control plane"),
		newStepOf(a, v1alpha1.RequestNetworking, "networking", "Apply the version's networking manifests"),
		newStepOf(a, v1alpha1.RequestKubelet, "kubelet NODE", "Upgrade one worker"))
	cmd.Long = `Ask for the next step of an upgrade that was started with --mode Manual. Steps are taken in the order of asking, each
behind its gates. 'refit status' says what the upgrade waits for.`
	cmd.Example = `  refit step control-plane cp-1
  refit step networking
  refit step control-plane cp-2
  refit step kubelet worker-1`
	return cmd
}

func newStepOf(a *app, step v1alpha1.RequestedStep, use, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     use,
		Short:   short,
		Example: "  refit step " + use,
		Args:    oneNode,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.control(cmd, "", func(ctx context.Context, c client.Client, u *v1alpha1.KubernetesUpgrade) (string, error) {
				return request(ctx, c, u, v1alpha1.StepRequest{Step: step, Node: args[0]})
			})
		},
	}
	if step == v1alpha1.RequestNetworking {
		cmd.Args = none
		cmd.RunE = func(cmd *cobra.Command, _ []string) error {
			return a.control(cmd, "", func(ctx context.Context, c client.Client, u *v1alpha1.KubernetesUpgrade) (string, error) {
				return request(ctx, c, u, v1alpha1.StepRequest{Step: step})
			})
		}
		return cmd
	}
	cmd.ValidArgsFunction = a.completeOne(a.nodeNames)
	return cmd
}

func request(ctx context.Context, c client.Client, u *v1alpha1.KubernetesUpgrade, asked v1alpha1.StepRequest) (string, error) {
	if u.Finished() {
		return "", errNoUpgrade
	}
	if u.Spec.Mode != v1alpha1.ModeManual {
		return "", fmt.Errorf("upgrade %s takes its steps by itself (mode Automatic): steps are asked for in an upgrade started with --mode Manual", u.Name)
	}
	if asked.Node != "" {
		node, err := findNode(ctx, c, asked.Node)
		if err != nil {
			return "", err
		}
		if err := fitsRole(asked, node); err != nil {
			return "", err
		}
	}
	asked.Version = u.Status.Hop
	for _, known := range u.Spec.Requests {
		if known.Step == asked.Step && known.Node == asked.Node && (known.Version == asked.Version || asked.Version == "") {
			return fmt.Sprintf("%s has been asked for already: see `refit status`", stepText(asked)), nil
		}
	}
	u.Spec.Requests = append(u.Spec.Requests, asked)
	return stepText(asked) + " is asked for: watch it with `refit status --watch`", nil
}

func fitsRole(asked v1alpha1.StepRequest, node *corev1.Node) error {
	_, controlPlane := node.Labels["node-role.kubernetes.io/control-plane"]
	switch {
	case asked.Step == v1alpha1.RequestControlPlane && !controlPlane:
		return fmt.Errorf("node %s is a worker: use `refit step kubelet %s`", node.Name, node.Name)
	case asked.Step == v1alpha1.RequestKubelet && controlPlane:
		return fmt.Errorf("node %s is a control plane, whose kubelet is upgraded with it: use `refit step control-plane %s`", node.Name, node.Name)
	}
	return nil
}

func stepText(asked v1alpha1.StepRequest) string {
	if asked.Node == "" {
		return string(asked.Step)
	}
	return string(asked.Step) + " of node " + asked.Node
}
