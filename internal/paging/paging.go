// Package paging lists page by page, so that no answer of the API server is as large as the cluster.
package paging

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reader reads from the API server, and lists 500 objects at a time. Whoever sets a limit gets one page.
type Reader struct{ client.Reader }

// List fills an empty list with every page. Where the pages have become too old to go on, it is listed once more in one answer.
func (r Reader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(options)
	if o.Limit > 0 {
		return r.Reader.List(ctx, list, &o)
	}
	empty := list.DeepCopyObject()
	all, _, err := pager.New(func(ctx context.Context, page metav1.ListOptions) (runtime.Object, error) {
		into, ok := empty.DeepCopyObject().(client.ObjectList)
		if !ok {
			return nil, fmt.Errorf("%T is no list", empty)
		}
		asked := o
		asked.Limit, asked.Continue = page.Limit, page.Continue
		return into, r.Reader.List(ctx, into, &asked)
	}).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	items, err := meta.ExtractList(all)
	if err != nil {
		return err
	}
	if m, err := meta.ListAccessor(all); err == nil {
		list.SetResourceVersion(m.GetResourceVersion())
	}
	return meta.SetList(list, items)
}

// Client lists as Reader does.
type Client struct{ client.WithWatch }

// List fills an empty list with every page.
func (c Client) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return Reader{c.WithWatch}.List(ctx, list, options...)
}
