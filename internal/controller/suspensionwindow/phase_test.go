package suspensionwindow

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"refit.dev/refit/api/managedupgrade/v1beta1"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// window is made at noon, and lasts from one hour after to two hours after.
func window() *v1beta1.UpgradeSuspensionWindow {
	return &v1beta1.UpgradeSuspensionWindow{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "freeze", UID: "u", Generation: 1, CreationTimestamp: metav1.NewTime(noon)},
		Spec: v1beta1.UpgradeSuspensionWindowSpec{Start: metav1.NewTime(noon.Add(time.Hour)), End: metav1.NewTime(noon.Add(2 * time.Hour)), Reason: "holidays"}}
}

func TestWhatHappenedSinceTheLastLook(t *testing.T) {
	for _, tt := range []struct {
		name         string
		last         *memory
		now          time.Duration
		began, ended bool
	}{
		{"it has just been made, and is to come", nil, 0, false, false},
		{"it was made long ago and is under way, while the manager was away", nil, 90 * time.Minute, false, false},
		{"it was made long ago and is over, while the manager was away", nil, 3 * time.Hour, false, false},
		{"it begins this very moment", &memory{uid: "u", generation: 1}, time.Hour, true, false},
		{"it goes on", &memory{uid: "u", generation: 1, phase: during}, time.Hour, false, false},
		{"it ends this very moment, which belongs to it", &memory{uid: "u", generation: 1, phase: during}, 2 * time.Hour, false, false},
		{"it ended a moment ago", &memory{uid: "u", generation: 1, phase: during}, 2*time.Hour + time.Millisecond, false, true},
		{"it went by between two looks", &memory{uid: "u", generation: 1}, 3 * time.Hour, true, true},
		{"it was moved into the past", &memory{uid: "u"}, 3 * time.Hour, false, false},
		{"it was moved into the future while it was under way", &memory{uid: "u", phase: during}, 0, false, true},
		{"it was prolonged after its end", &memory{uid: "u", phase: after}, 90 * time.Minute, true, false},
		{"another one of the same name was there long ago", &memory{uid: "other", phase: during}, 90 * time.Minute, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			began, ended := passed(tt.last, window(), noon.Add(tt.now))
			NewWithT(t).Expect([]bool{began, ended}).To(Equal([]bool{tt.began, tt.ended}))
		})
	}
	began, ended := passed(nil, window(), noon)
	NewWithT(t).Expect([]bool{began, ended}).To(Equal([]bool{false, false}))
	running := window()
	running.Spec.Start = metav1.NewTime(noon.Add(-time.Hour))
	began, _ = passed(nil, running, noon.Add(time.Second))
	NewWithT(t).Expect(began).To(BeTrue(), "it was made just now, in the middle of its time")
}

func TestHoweverOftenOneLooksAWindowBeginsAndEndsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, now := window(), noon
		var last *memory
		var beganTimes, endedTimes int
		for now.Before(noon.Add(3 * time.Hour)) {
			began, ended := passed(last, w, now)
			if began {
				beganTimes++
			}
			if ended {
				endedTimes++
			}
			is, wait := phaseOf(w, now)
			if is != after && wait <= 0 {
				t.Fatalf("no look is to come at %v", now)
			}
			last = &memory{uid: w.UID, generation: w.Generation, phase: is}
			now = now.Add(time.Duration(rapid.IntRange(1, 5400).Draw(t, "seconds")) * time.Second)
		}
		began, ended := passed(last, w, now)
		if began {
			beganTimes++
		}
		if ended {
			endedTimes++
		}
		if beganTimes != 1 || endedTimes != 1 {
			t.Fatalf("began %d times, ended %d times", beganTimes, endedTimes)
		}
	})
}
