package images

import (
	"encoding/json"
	"fmt"
	"strings"

	"refit.dev/refit/internal/node/task"
)

// defaultRepository is kubeadm's, and that of the images that a bundle lists.
const defaultRepository = "registry.k8s.io"

// source is where a ClusterConfiguration of kubeadm has images come from.
type source struct {
	Repository string `json:"imageRepository"`
	DNS        struct {
		place
		Disabled bool `json:"disabled"`
	} `json:"dns"`
	Proxy struct {
		Disabled bool `json:"disabled"`
	} `json:"proxy"`
	Etcd struct {
		Local    place     `json:"local"`
		External *struct{} `json:"external"`
	} `json:"etcd"`
}

// place overrides where one image comes from; what is empty overrides nothing.
type place struct {
	Repository string `json:"imageRepository"`
	Tag        string `json:"imageTag"`
}

func sourceOf(cluster map[string]any) (source, error) {
	var s source
	data, err := json.Marshal(cluster)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read where images come from in kubeadm's ClusterConfiguration: %w", err)
	}
	if s.Repository == "" {
		s.Repository = defaultRepository
	}
	return s, nil
}

// names are the images that `kubeadm config images list` prints with the cluster's configuration, given those that it prints
// without any, which are the bundle's. It is kubeadm that asks for them later, so its rules apply, and no others.
func (s *source) names(images []string) []string {
	var out []string
	for _, image := range images {
		base := baseName(image)
		repository, tag := s.Repository, tagOf(image)
		switch base {
		case "kube-proxy":
			if s.Proxy.Disabled {
				continue
			}
		case "coredns":
			if s.DNS.Disabled {
				continue
			}
			repository, tag = s.DNS.over(repository, tag)
			if repository == defaultRepository {
				repository += "/coredns" // there, and only there, it is a folder deeper
			}
		case "etcd":
			if s.Etcd.External != nil {
				continue
			}
			repository, tag = s.Etcd.Local.over(repository, tag)
		}
		out = append(out, repository+"/"+base+":"+tag)
	}
	return out
}

func (p *place) over(repository, tag string) (string, string) {
	if p.Repository != "" {
		repository = p.Repository
	}
	if p.Tag != "" {
		tag = p.Tag
	}
	return repository, tag
}

// tagOf is "v1.14.2" of "registry.k8s.io/coredns/coredns:v1.14.2".
func tagOf(image string) string {
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return tag
}

// Names are the images of the bundle's version as this cluster's kubeadm would call them, given its ClusterConfiguration: those
// that the node's role needs.
func Names(t *task.Task, cluster map[string]any) ([]string, error) {
	s, err := sourceOf(cluster)
	if err != nil {
		return nil, err
	}
	all := s.names(t.Bundle.Images)
	if t.Spec.ControlPlane() {
		return all, nil
	}
	var needed []string
	for _, image := range all {
		for _, name := range onWorkers {
			if baseName(image) == name {
				needed = append(needed, image)
			}
		}
	}
	return needed, nil
}
