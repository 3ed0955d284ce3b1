// Package admission_test holds the policies to a real API server, and to the packages whose rules they say again in CEL.
package admission_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"refit.dev/refit/internal/schedule"
	"refit.dev/refit/internal/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m)) }

// denied stands in every refusal of the policy, before its message.
const denied = "ValidatingAdmissionPolicy 'refit-upgradeconfig-schedule' with binding 'refit-upgradeconfig-schedule' denied request: "

// stored is an UpgradeConfig with a schedule that never fires, from before the policy.
const stored = "stored-before-the-policy"

var (
	once     sync.Once
	errStart error
)

// cluster is one in which the policy is in force.
func cluster(t *testing.T) *testcluster.Cluster {
	t.Helper()
	c := testcluster.Start(t)
	once.Do(func() {
		old := config("0 0 30 2 *", "")
		old.SetName(stored)
		if errStart = c.Client.Create(t.Context(), old); errStart != nil {
			return
		}
		errStart = c.Apply(t.Context(), "admission")
	})
	g := NewWithT(t)
	g.Expect(errStart).NotTo(HaveOccurred())
	g.Eventually(func() error { return dryRun(t, c, "0 0 30 2 *", "") }, 30*time.Second, 50*time.Millisecond).
		Should(MatchError(ContainSubstring(denied)), "the policy is not in force")
	return c
}

func config(cron, week string) *unstructured.Unstructured {
	fields := map[string]any{"cron": cron, "location": "UTC"}
	if week != "" {
		fields["isoWeek"] = week
	}
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"schedule":    fields,
		"jobTemplate": map[string]any{"spec": map[string]any{"config": map[string]any{}}},
	}}}
	o.SetAPIVersion("managedupgrade.appuio.io/v1beta1")
	o.SetKind("UpgradeConfig")
	o.SetNamespace("default")
	o.SetName("it")
	return o
}

func dryRun(t *testing.T, c *testcluster.Cluster, cron, week string) error {
	return c.Client.Create(t.Context(), config(cron, week), client.DryRunAll)
}

// policyMessage is what the policy says in a refusal; false where it is not the policy that refuses.
func policyMessage(err error) (string, bool) {
	_, message, found := strings.Cut(err.Error(), denied)
	return message, found
}

// asPolicy is what the policy ought to say: what package schedule says, with the fields' whole paths.
func asPolicy(err error) string {
	return strings.ReplaceAll(err.Error(), "schedule.", "spec.schedule.")
}

func TestWhatIsTakenAndRefused(t *testing.T) {
	c := cluster(t)
	for _, tt := range []struct {
		name, cron, week string
		// refused are parts of the message; none where the object is taken.
		refused []string
	}{
		{"a weekly window", "0 22 * * 2", "", nil},
		{"a weekly window in odd weeks", "0 22 * * TUE", "@odd", nil},
		{"week 7 with a zero", "0 22 * * 2", "07", nil},
		{"lists, ranges, steps and names", "*/15,7 1-5/2,22 1-7,15/3 jan-Mar,12 MON-fri,0", "", nil},
		{"question marks", "0 22 ? * ?", "", nil},
		{"blanks around and between", " 0  22 * * 2 ", "@even", nil},
		{"signs and zeros before numbers, and empty parts of a list", "+5 007 ,1,,2, +09 *", "", nil},
		{"29 February", "0 0 29 2 *", "", nil},
		{"30 February, or a Monday", "0 0 30 2 1", "", nil},
		{"the 31st of a month of 30 days, or any seventh", "0 0 31 4,6 */6", "", nil},
		{"a step is no star", "0 0 30 2 */1", "", []string{"never fires"}},
		{"a step is no star, so either day is enough", "0 0 30 2 */2", "", nil},
		{"29 February in week 9", "0 0 29 2 *", "9", nil},
		{"1 January in week 53", "0 0 1 1 *", "53", nil},
		{"every year in week 53", "@yearly", "53", nil},
		{"every week in week 53", "@weekly", "53", nil},
		{"every hour in odd weeks", "@hourly", "@odd", nil},

		{"a minute of 60", "60 22 * * 2", "", []string{`spec.schedule.cron "60 22 * * 2" has a wrong minute, "60": write * or 0-59`}},
		{"an hour of 24", "0 24 * * 2", "", []string{`has a wrong hour, "24"`}},
		{"day 0", "0 22 0 * *", "", []string{`has a wrong day of month, "0"`, "1-31"}},
		{"month 13", "0 22 * 13 *", "", []string{`has a wrong month, "13"`, "JAN-DEC"}},
		{"Sunday as 7", "0 22 * * 7", "", []string{`has a wrong day of week, "7"`, "Sunday is 0 or SUN, not 7"}},
		{"a name in another field", "0 22 * MON *", "", []string{`has a wrong month, "MON"`}},
		{"a range that runs backwards", "0 22 * * FRI-MON", "", []string{`has a wrong day of week, "FRI-MON"`}},
		{"a step of zero", "*/0 22 * * *", "", []string{`has a wrong minute, "*/0"`}},
		{"a comma alone", "0 22 , * 1", "", []string{`has a wrong day of month, ","`}},
		{"a word", "0 22 * * Tuesday", "", []string{`has a wrong day of week, "Tuesday"`}},
		{"the first of two wrong fields", "0 24 0 * *", "", []string{`has a wrong hour, "24"`}},
		{"a wrong field and a week", "0 24 1 1 *", "20", []string{`has a wrong hour, "24"`}},
		{"six fields that are five to the CRD", "0\t22 * * 2 3", "", []string{"has 6 fields", "write five"}},

		{"30 February", "0 0 30 2 *", "", []string{`spec.schedule.cron "0 0 30 2 *" never fires`, "a day of month up to 29, or another month"}},
		{"30 February in odd weeks", "0 0 30 2 *", "@odd", []string{"spec.schedule.cron", "never fires"}},
		{"the 31st of months of 30 days", "0 0 31 4,6,9,11 *", "", []string{"up to 30"}},
		{"1 January in week 20", "0 0 1 1 *", "20", []string{`spec.schedule.isoWeek "20" never comes`, "only ever in ISO weeks 1, 52-53: choose such a week"}},
		{"4 January in even weeks", "0 0 4 1 *", "@even", []string{`spec.schedule.isoWeek "@even" never comes`, "only ever in ISO week 1:"}},
		{"11 January in odd weeks", "0 0 11 1 *", "@odd", []string{"only ever in ISO week 2:"}},
		{"December in week 20", "0 0 * 12 *", "20", []string{"only ever in ISO weeks 1, 48-53:"}},
		{"Mondays of January in week 30", "0 0 * 1 MON", "30", []string{"only ever in ISO weeks 1-5:"}},
		{"a Monday of January in week 53", "0 0 * 1 1", "53", []string{"never comes"}},
		{"the 1st or a Sunday of May in week 30", "0 0 1 5 SUN", "30", []string{"never comes"}},
		{"every year in week 20", "@yearly", "20", []string{`"@yearly"`, "only ever in ISO weeks 1, 52-53:"}},
		{"every month in week 3", "@monthly", "3", []string{`"@monthly"`, "1, 5, 9-10, 13-14, 17-18, 22-23"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			err := dryRun(t, c, tt.cron, tt.week)
			if len(tt.refused) == 0 {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			for _, part := range append(tt.refused, denied) {
				g.Expect(err).To(MatchError(ContainSubstring(part)))
			}
		})
	}
}

// What the CRD refuses already is refused by it alone.
func TestOneRefusalAtATime(t *testing.T) {
	c := cluster(t)
	for _, tt := range []struct{ cron, week, says string }{
		{"0 22 * *", "", "must have five fields"},
		{"@fortnightly", "", "must be one of @hourly"},
		{"@every 1h", "", "must name times of day"},
		{"TZ=UTC 0 24 * * 2", "", "must not name a time zone"},
		{"0 24 * * 2", "99", "must be @odd, @even, or the number of a week"},
	} {
		g := NewWithT(t)
		err := dryRun(t, c, tt.cron, tt.week)
		g.Expect(err).To(MatchError(And(ContainSubstring(tt.says), Not(ContainSubstring("ValidatingAdmissionPolicy")))))
	}
}

func TestAnObjectFromBeforeCanStillBeChanged(t *testing.T) {
	c := cluster(t)
	g := NewWithT(t)
	update := func(change func(*unstructured.Unstructured)) error {
		o := config("", "")
		g.Expect(c.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: stored}, o)).To(Succeed())
		change(o)
		return c.Client.Update(t.Context(), o)
	}
	set := func(value any, path ...string) func(*unstructured.Unstructured) {
		return func(o *unstructured.Unstructured) {
			g.Expect(unstructured.SetNestedField(o.Object, value, path...)).To(Succeed())
		}
	}
	g.Expect(update(func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"a": "b"}) })).To(Succeed())
	g.Expect(update(func(o *unstructured.Unstructured) { o.SetFinalizers([]string{"refit.dev/test"}) })).To(Succeed())
	g.Expect(update(set(true, "spec", "schedule", "suspend"))).To(Succeed())
	g.Expect(update(set("2h", "spec", "maxSchedulingDelay"))).To(Succeed())

	o := config("", "")
	g.Expect(c.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: stored}, o)).To(Succeed())
	set(int64(1), "status", "observedGeneration")(o)
	g.Expect(c.Client.Status().Update(t.Context(), o)).To(Succeed())

	g.Expect(update(set("7", "spec", "schedule", "isoWeek"))).To(MatchError(ContainSubstring("spec.schedule.cron \"0 0 30 2 *\" never fires")))
	g.Expect(update(set("0 0 31 2 *", "spec", "schedule", "cron"))).To(MatchError(ContainSubstring("never fires")))
	g.Expect(update(set("0 0 28 2 *", "spec", "schedule", "cron"))).To(Succeed())
	g.Expect(update(set("7", "spec", "schedule", "isoWeek"))).To(MatchError(ContainSubstring("only ever in ISO weeks 8-9")))

	// Deletion is under way until the finalizer is gone.
	g.Expect(c.Client.Delete(t.Context(), o)).To(Succeed())
	g.Expect(update(func(o *unstructured.Unstructured) { o.SetFinalizers(nil) })).To(Succeed())
}

// TestEveryDateAndWeekday asks for each date of the year, and for each weekday of each month, in a week that never comes. The answer
// names all weeks that come, so all that the policy knows of the calendar is held to the package.
func TestEveryDateAndWeekday(t *testing.T) {
	c := cluster(t)
	asked := 0
	ask := func(cron string) {
		for _, week := range []string{"26", "9", "53"} {
			_, want := schedule.Parse(schedule.Spec{Cron: cron, ISOWeek: week})
			if want == nil {
				continue
			}
			asked++
			if err := dryRun(t, c, cron, week); err == nil || !strings.HasSuffix(err.Error(), denied+asPolicy(want)) {
				t.Errorf("%s in week %s: %v, not %v", cron, week, err, want)
			}
			return
		}
		t.Errorf("%s comes in each of the weeks", cron)
	}
	for month := 1; month <= 12; month++ {
		for day := 1; day <= 31; day++ {
			ask(fmt.Sprintf("0 0 %d %d *", day, month))
		}
		for weekday := range 7 {
			ask(fmt.Sprintf("0 0 * %d %d", month, weekday))
		}
	}
	NewWithT(t).Expect(asked).To(Equal(12 * (31 + 7)))
}

// part draws one part of a field, of which some are wrong.
func part(lowest, highest int, names []string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		value := func() string {
			switch rapid.IntRange(0, 19).Draw(t, "spelling") {
			case 0:
				return rapid.SampledFrom([]string{strconv.Itoa(lowest - 1), strconv.Itoa(highest + 1), "", "+", "x", "1x", "+-1", "99999999999999999999"}).Draw(t, "odd")
			case 1:
				return rapid.SampledFrom([]string{"0", "00", "+", "+0"}).Draw(t, "before") + strconv.Itoa(rapid.IntRange(lowest, highest).Draw(t, "value"))
			case 2, 3:
				return rapid.SampledFrom(names).Draw(t, "name")
			default:
				return strconv.Itoa(rapid.OneOf(rapid.IntRange(lowest, highest), rapid.SampledFrom([]int{lowest, highest, highest - 1})).Draw(t, "value"))
			}
		}
		text := ""
		switch rapid.IntRange(0, 7).Draw(t, "form") {
		case 0:
			text = "*"
		case 1:
			text = rapid.SampledFrom([]string{"*", "?", "**", "*-3", "*-x", "?-1-2", "5-*", "1-2-3", "-1", "1-"}).Draw(t, "star")
		case 2, 3:
			text = value() + "-" + value()
		default:
			text = value()
		}
		if rapid.IntRange(0, 5).Draw(t, "stepped") == 0 {
			text += "/" + rapid.SampledFrom([]string{"1", "01", "+1", "2", "7", "15", "99", "0", "", "-1", "x", "1/1", "123456789012345678", "99999999999999999999"}).Draw(t, "step")
		}
		return text
	})
}

func field(lowest, highest int, names ...string) *rapid.Generator[string] {
	names = append(names, "JAN", "mon", "Monday", "sun")
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 3).Draw(t, "plain") == 0 {
			return "*"
		}
		parts := rapid.SliceOfN(part(lowest, highest, names), 1, rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "most")).Draw(t, "parts")
		text := strings.Join(parts, ",")
		if rapid.IntRange(0, 29).Draw(t, "commas") == 0 {
			text = rapid.SampledFrom([]string{",", "," + text, text + ",", text + ",," + text}).Draw(t, "with commas")
		}
		if text == "" {
			return ","
		}
		return text
	})
}

var (
	monthNames = []string{"jan", "Feb", "MAR", "apr", "MAY", "jun", "jul", "AUG", "sep", "oct", "NOV", "dec"}
	dayNames   = []string{"SUN", "mon", "Tue", "WED", "thu", "fri", "SAT"}
)

// anyCron draws expressions of which many are wrong.
func anyCron(t *rapid.T) string {
	return strings.Join([]string{
		field(0, 59).Draw(t, "minute"), field(0, 23).Draw(t, "hour"), field(1, 31).Draw(t, "day of month"),
		field(1, 12, monthNames...).Draw(t, "month"), field(0, 6, dayNames...).Draw(t, "day of week"),
	}, rapid.SampledFrom([]string{" ", " ", "  "}).Draw(t, "blanks"))
}

// rareCron draws expressions that are right, and of which many never fire.
func rareCron(t *rapid.T) string {
	return "0 22 " + rapid.OneOf(rapid.SampledFrom([]string{"*", "?", "30", "31", "30,31", "29-31", "30/1", "*/30", "*/31", "1", "1-3", "29/2", "*/1", "*/2"}),
		rapid.Map(rapid.IntRange(1, 31), strconv.Itoa)).Draw(t, "day of month") +
		" " + rapid.OneOf(rapid.SampledFrom([]string{"2", "FEB", "2,4", "4,6,9,11", "1", "12", "JAN,DEC", "*", "2/2", "*/5"}),
		rapid.SampledFrom(monthNames)).Draw(t, "month") +
		" " + rapid.OneOf(rapid.Just("*"), rapid.SampledFrom([]string{"*", "?", "*/1", "*/2", "0-6", "1-5", "*,1", "6,0"}), rapid.SampledFrom(dayNames)).Draw(t, "day of week")
}

// TestAnyScheduleIsJudgedAsByThePackage holds verdict and message to what the controller would say.
func TestAnyScheduleIsJudgedAsByThePackage(t *testing.T) {
	c := cluster(t)
	cases, verdicts := 0, map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		for range 6 {
			cases++
			cron := rapid.OneOf(rapid.Custom(anyCron), rapid.Custom(rareCron), rapid.Custom(rareCron),
				rapid.SampledFrom([]string{"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"})).Draw(rt, "cron")
			if len(cron) > 128 {
				continue
			}
			week := rapid.OneOf(rapid.SampledFrom([]string{"", "@odd", "@even", "1", "5", "09", "52", "53", "53"}),
				rapid.Map(rapid.IntRange(1, 53), strconv.Itoa)).Draw(rt, "week")
			_, want := schedule.Parse(schedule.Spec{Cron: strings.Join(strings.Fields(cron), " "), ISOWeek: week})
			err := dryRun(t, c, cron, week)
			var wrong *schedule.FieldError
			switch {
			case want == nil && err == nil:
				verdicts["taken"]++
			case want == nil || err == nil || !errors.As(want, &wrong):
				rt.Fatalf("%q in week %q: the API server says %v, the package %v", cron, week, err, want)
			default:
				verdicts[strings.Join(strings.Fields(wrong.Problem)[:2], " ")]++
				if message, _ := policyMessage(err); message != asPolicy(want) {
					rt.Fatalf("%q in week %q: the API server says %v, the package %v", cron, week, err, want)
				}
			}
		}
	})
	t.Logf("%d cases: %v", cases, verdicts)
	if testing.Short() {
		return
	}
	NewWithT(t).Expect(cases).To(BeNumerically(">=", 300))
	NewWithT(t).Expect(verdicts).To(HaveLen(4), "taken, a wrong field, never fires, never comes: %v", verdicts)
}
