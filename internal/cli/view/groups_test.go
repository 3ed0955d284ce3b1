package view

import (
	"testing"

	. "github.com/onsi/gomega"

	"refit.dev/refit/api/v1alpha1"
)

func TestGroupsAreSummedUpInALine(t *testing.T) {
	g := NewWithT(t)
	u := &v1alpha1.KubernetesUpgrade{}
	g.Expect(groupLines(u, 80)).To(BeEmpty())
	u.Status.Groups = []v1alpha1.GroupStatus{
		{Name: "canary", State: v1alpha1.GroupDone, Total: 1, Upgraded: 1},
		{Name: "zone-a", State: v1alpha1.GroupRunning, Total: 20, Upgraded: 12, Failed: 1},
		{Name: "zone-b", State: v1alpha1.GroupSoaking, Total: 4, Upgraded: 4},
		{Name: "db", State: v1alpha1.GroupApproval, Total: 3},
		{State: v1alpha1.GroupWaiting, Total: 2},
	}
	g.Expect(groupLines(u, 200)).To(Equal([]string{"Groups: canary 1/1 done, zone-a 12/20 (1 failed), zone-b 4/4 soaking, db 0/3 to be approved, (rest) 0/2"}))
	g.Expect(len(groupLines(u, 20))).To(Equal(mostGroupLines))
}
