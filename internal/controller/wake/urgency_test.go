package wake

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/api/v1alpha1"
)

func TestWhatOthersWaitForIsUrgent(t *testing.T) {
	claim := func(phase v1alpha1.NodeUpgradePhase, hold bool) *v1alpha1.NodeUpgrade {
		return &v1alpha1.NodeUpgrade{Spec: v1alpha1.NodeUpgradeSpec{Hold: hold}, Status: v1alpha1.NodeUpgradeStatus{Phase: phase}}
	}
	node := func(ready corev1.ConditionStatus, cordoned bool, by string) *corev1.Node {
		n := &corev1.Node{Spec: corev1.NodeSpec{Unschedulable: cordoned}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}}}
		if by != "" {
			n.Annotations = map[string]string{v1alpha1.AnnotationCordonedBy: by}
		}
		return n
	}
	other := node(corev1.ConditionTrue, false, "")
	other.UID = "other"
	goes := claim(v1alpha1.NodeUpgrading, false)
	goes.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	for what, tt := range map[string]struct {
		before, after client.Object
		urgent        bool
	}{
		"a node was joined":                   {nil, other, true},
		"a claim is gone":                     {claim(v1alpha1.NodeCompleted, false), nil, true},
		"another node has the name":           {node(corev1.ConditionTrue, false, ""), other, true},
		"a node is staged":                    {claim(v1alpha1.NodeStaging, true), claim(v1alpha1.NodeStaged, true), true},
		"a node is done":                      {claim(v1alpha1.NodeUpgrading, false), claim(v1alpha1.NodeCompleted, false), true},
		"a node has failed":                   {claim(v1alpha1.NodeUpgrading, false), claim(v1alpha1.NodeFailed, false), true},
		"a claim is being deleted":            {claim(v1alpha1.NodeUpgrading, false), goes, true},
		"a node was begun":                    {claim(v1alpha1.NodeStaged, true), claim(v1alpha1.NodeStaged, false), false},
		"a node is being upgraded":            {claim(v1alpha1.NodeStaged, false), claim(v1alpha1.NodeUpgrading, false), false},
		"a node is Ready again":               {node(corev1.ConditionUnknown, false, ""), node(corev1.ConditionTrue, false, ""), true},
		"a person uncordons a node":           {node(corev1.ConditionTrue, true, ""), node(corev1.ConditionTrue, false, ""), true},
		"a node is not Ready any more":        {node(corev1.ConditionTrue, false, ""), node(corev1.ConditionFalse, false, ""), false},
		"an upgrade uncordons a node":         {node(corev1.ConditionTrue, true, "u"), node(corev1.ConditionTrue, false, ""), false},
		"a node that is being upgraded is up": {node(corev1.ConditionUnknown, true, "u"), node(corev1.ConditionTrue, true, "u"), false},
	} {
		t.Run(what, func(t *testing.T) {
			want := 2 * time.Second
			if tt.urgent {
				want = time.Second
			}
			NewWithT(t).Expect(ByUrgency(time.Second, 2*time.Second)(tt.before, tt.after)).To(Equal(want))
		})
	}
}
