package feed

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// listOptionsFrom asks for the changes after a version, in a watch that ends by itself.
func listOptionsFrom(version string) *metav1.ListOptions {
	limit := int64(watchTimeout.Seconds())
	return &metav1.ListOptions{ResourceVersion: version, TimeoutSeconds: &limit}
}
