package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/crane"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/rogpeppe/go-internal/testscript"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"refit.dev/refit/api/managedupgrade/v1beta1"
	"refit.dev/refit/api/v1alpha1"
	"refit.dev/refit/internal/install"
)

const testTimeout = 30 * time.Second

// programs makes a folder of programs that say they are a Kubernetes version: programs VERSION FOLDER.
func programs(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: programs VERSION FOLDER")
	}
	version, dir := args[0], ts.MkAbs(args[1])
	kubeadm := fmt.Sprintf(`case "$1" in
version) echo %[1]s;;
config) echo registry.k8s.io/kube-apiserver:%[1]s; echo registry.k8s.io/coredns/coredns:v1.14.2; echo registry.k8s.io/pause:3.10.2; echo registry.k8s.io/etcd:3.6.8-0;;
esac`, version)
	for name, body := range map[string]string{
		"bin/kubeadm":                 kubeadm,
		"bin/kubelet":                 "echo Kubernetes " + version,
		"bin/kubectl":                 "echo Client Version: " + version,
		"bin/containerd":              "echo containerd github.com/containerd/containerd/v2 v2.2.9",
		"bin/containerd-shim-runc-v2": "exit 0",
		"bin/ctr":                     "exit 0",
		"bin/runc":                    "echo runc version 1.5.2",
		"bin/etcdctl":                 "echo etcdctl version: 3.6.8",
		"bin/etcdutl":                 "echo etcdutl version: 3.6.8",
		"cni/loopback":                "echo CNI loopback plugin v1.9.1 >&2",
		"refit-node":                  "exit 0",
	} {
		file := filepath.Join(dir, name)
		ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
		ts.Check(os.WriteFile(file, []byte("#!/bin/sh\n"+body+"\n"), 0o755))
	}
}

// apply brings the objects of a file into the cluster, with their status: apply FILE.
func apply(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: apply FILE")
	}
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(ts.ReadFile(args[0])), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return
		}
		ts.Check(err)
		ts.Check(applyOne(ctx, object))
	}
}

func applyOne(ctx context.Context, object *unstructured.Unstructured) error {
	status, hasStatus := object.Object["status"]
	err := server.client.Create(ctx, object)
	if apierrors.IsAlreadyExists(err) {
		known := &unstructured.Unstructured{}
		known.SetGroupVersionKind(object.GroupVersionKind())
		if err = server.client.Get(ctx, client.ObjectKeyFromObject(object), known); err != nil {
			return err
		}
		object.SetResourceVersion(known.GetResourceVersion())
		err = server.client.Update(ctx, object)
	}
	if err != nil || !hasStatus {
		return err
	}
	object.Object["status"] = status
	return server.client.Status().Update(ctx, object)
}

func withKinds(t *testing.T) {
	t.Helper()
	_, err := envtest.InstallCRDs(server.environment.Config, envtest.CRDInstallOptions{Paths: []string{"../../config/crd"}})
	if err != nil {
		t.Fatalf("install the kinds: %v", err)
	}
}

func withoutKinds(t *testing.T) {
	t.Helper()
	kinds := &unstructured.UnstructuredList{}
	kinds.SetAPIVersion("apiextensions.k8s.io/v1")
	kinds.SetKind("CustomResourceDefinitionList")
	if err := wipeAll(kinds); err != nil {
		t.Fatalf("remove the kinds: %v", err)
	}
}

// wipe removes what an earlier script left.
func wipe() error {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	if err := freshNamespace(ctx); err != nil {
		return err
	}
	lists := []client.ObjectList{&v1alpha1.KubernetesUpgradeList{}, &v1alpha1.ControlPlaneUpgradeList{}, &v1alpha1.NodeUpgradeList{},
		&v1alpha1.KubernetesVersionList{}, &v1alpha1.RolloutPlanList{}, &corev1.NodeList{}, &corev1.PodList{}, &corev1.ConfigMapList{},
		&v1beta1.UpgradeConfigList{}, &v1beta1.UpgradeJobList{}, &v1beta1.UpgradeSuspensionWindowList{}, &v1beta1.UpgradeJobHookList{},
		&batchv1.JobList{}, &coordinationv1.LeaseList{}}
	for _, list := range lists {
		if err := wipeAll(list); err != nil {
			return err
		}
	}
	return nil
}

// freshNamespace makes Refit's namespace. One that is being deleted is helped along: nobody else does it here.
func freshNamespace(ctx context.Context) error {
	namespace := &corev1.Namespace{}
	err := server.client.Get(ctx, client.ObjectKey{Name: v1alpha1.Namespace}, namespace)
	if err == nil && namespace.DeletionTimestamp == nil {
		return nil
	}
	if err == nil {
		namespace.Spec.Finalizers = nil
		if err := server.client.SubResource("finalize").Update(ctx, namespace); err != nil {
			return err
		}
	}
	return client.IgnoreAlreadyExists(server.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.Namespace}}))
}

func wipeAll(list client.ObjectList) error {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	return install.Each(ctx, server.client, list, func(o client.Object) error {
		return client.IgnoreNotFound(server.client.Delete(ctx, o, client.GracePeriodSeconds(0), client.PropagationPolicy(metav1.DeletePropagationBackground)))
	})
}

// damage changes a program of a bundle in a registry, but not its checksum: damage FROM TO.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: damage FROM TO")
	}
	img, err := crane.Pull(args[0], crane.Insecure)
	ts.Check(err)
	layer, err := crane.Layer(map[string][]byte{"bundle/bin/kubelet": []byte("not the kubelet")})
	ts.Check(err)
	img, err = mutate.AppendLayers(img, layer)
	ts.Check(err)
	ts.Check(crane.Push(img, args[1], crane.Insecure))
}

// until waits for a line of a file that is being written: until FILE REGEXP.
func until(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: until FILE REGEXP")
	}
	wanted, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	var content []byte
	err = wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, testTimeout, true, func(context.Context) (bool, error) {
		content, err = os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && wanted.Match(content), nil
	})
	if err != nil {
		ts.Fatalf("%s never held %s:\n%s", args[0], args[1], content)
	}
}
