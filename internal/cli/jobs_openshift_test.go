package cli

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

func TestOnOpenShiftItsOwnKindsAreRead(t *testing.T) {
	g := NewWithT(t)
	scheme, err := newScheme()
	g.Expect(err).NotTo(HaveOccurred())
	version := &configv1.ClusterVersion{ObjectMeta: metav1.ObjectMeta{Name: "version", Annotations: map[string]string{v1beta1.AnnotationLock: "m/weekly-1"}}}
	version.Status.AvailableUpdates = []configv1.Release{{Version: "4.18.2"}}
	pool := &mcfgv1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Name: "worker", Annotations: map[string]string{v1beta1.AnnotationPausedBy: "m/weekly-1"}}}
	pool.Spec.Paused = true
	c := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme)).WithObjects(version, pool).Build()
	var out, notes bytes.Buffer
	a := newApp(Streams{Out: &out, ErrOut: &notes})

	available, seen := a.versionsOf(t.Context(), c)("")
	g.Expect(seen).To(BeTrue())
	g.Expect(available).To(Equal(version.Status.AvailableUpdates))

	lines := a.tell(t.Context(), c, jobWith(started()), &maintenanceSeen{}).lines()
	g.Expect(lines).To(ContainElements(
		"Target:     OpenShift",
		"Lock:       this job holds it",
		"Pool:       worker is paused by this job, and let go when its delay is over"))
	g.Expect(notes.String()).To(BeEmpty())
}
