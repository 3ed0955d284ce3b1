package kubernetesupgrade

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"refit.dev/refit/api/v1alpha1"
)

// believed is how long the API server must refuse a manifest until that is the step's failure: just after its start it may not know
// all rights yet, and a kind is served only a moment after its CustomResourceDefinition is applied.
const believed = time.Minute

// problem is why the API server does not take a manifest.
type problem struct {
	Text  string      `json:"text"`
	Since metav1.Time `json:"since"`
	// Refused says that asking again will not help; otherwise the step goes on asking until its time is over.
	Refused bool `json:"refused,omitempty"`
}

// final says whether a person has to see to it.
func (p *problem) final(now time.Time) bool {
	return p.Refused && now.Sub(p.Since.Time) > believed
}

// after is the problem after one more attempt; it lasts since the first answer of its sort.
func (p *problem) after(err error, n *v1alpha1.Networking, now time.Time) *problem {
	if err == nil {
		return nil
	}
	next := &problem{Text: err.Error() + remedy(err, n), Since: metav1.NewTime(now), Refused: refused(err)}
	if p != nil && p.Refused == next.Refused {
		next.Since = p.Since
	}
	return next
}

// refused says whether the API server understood, and will not: a right is missing, or the manifest is wrong.
func refused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
}

// answered says whether the error is an answer of the API server about a manifest, rather than about a lost race or the way to it.
func answered(err error) bool {
	var status apierrors.APIStatus
	return !apierrors.IsConflict(err) && (errors.As(err, &status) || meta.IsNoMatchError(err))
}

// remedy is what a person can do.
func remedy(err error, n *v1alpha1.Networking) string {
	source := "ConfigMap " + sourceOf(n).String()
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Sprintf(". Give ServiceAccount refit-manager of %s that right, or apply the manifest by hand and take it out of %s", v1alpha1.Namespace, source)
	case refused(err):
		return fmt.Sprintf(". Correct it in %s, or install what it needs", source)
	}
	return ""
}
