package v1beta1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Defaults of an UpgradeConfig.
const (
	DefaultMaxSchedulingDelay   = time.Hour
	DefaultMaxUpgradeStartDelay = time.Hour
	// DefaultHistoryLimit is how many ended jobs of each outcome are kept.
	DefaultHistoryLimit = 4
	// SchedulesShown is how many next schedules the status shows.
	SchedulesShown = 10
)

// UpgradeConfigSchedule says when a maintenance window begins.
type UpgradeConfigSchedule struct {
	// cron is a cron expression of five fields: minute, hour, day of month, month, day of week (Sunday is 0 or SUN). Where day of
	// month and day of week are both restricted, either is enough. @hourly, @daily, @weekly, @monthly and @yearly are understood.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.trim().startsWith('@') || self.trim().split(' ').filter(f, f != '').size() == 5",message="must have five fields: minute, hour, day of month, month and day of week, such as '0 22 * * 2'"
	// +kubebuilder:validation:XValidation:rule="!self.contains('TZ=')",message="must not name a time zone: use location"
	// +kubebuilder:validation:XValidation:rule="!self.trim().startsWith('@every')",message="must name times of day: @every has none"
	// +kubebuilder:validation:XValidation:rule="!self.trim().startsWith('@') || self.trim().startsWith('@every') || self.trim() in ['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@yearly', '@annually']",message="must be one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, or five fields"
	Cron string `json:"cron"`
	// isoWeek restricts the schedule to weeks by ISO 8601: @odd, @even, or a week's number, 1 to 53. Default: every week. The week
	// is computed in location. After an odd week 53 comes week 1, which is odd as well: @odd fires in both.
	// +kubebuilder:validation:XValidation:rule="self.matches('^(|@odd|@even|0?[1-9]|[1-4][0-9]|5[0-3])$')",message="must be @odd, @even, or the number of a week, 1 to 53; remove it for every week"
	// +kubebuilder:validation:MaxLength=5
	// +optional
	ISOWeek string `json:"isoWeek,omitempty"`
	// location is the time zone of cron and isoWeek, by its name in the IANA database, such as Europe/Zurich. Local, the default, is
	// the zone of the manager, which is UTC in the image that Refit ships.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self == '' || self == 'Local' || timestamp('2026-01-01T00:00:00Z').getFullYear(self) > 0",message="must be the name of a time zone, such as Europe/Zurich"
	// +kubebuilder:default=Local
	// +optional
	Location string `json:"location,omitempty"`
	// suspend creates no new jobs. A job that was created before goes on.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// UpgradeConfigJobTemplateSpec is the spec of the jobs that are created.
type UpgradeConfigJobTemplateSpec struct {
	// config is copied into the jobs.
	Config UpgradeJobConfig `json:"config"`
}

// TemplateMetadata is what of an object's metadata a template can set.
type TemplateMetadata struct {
	// labels of the jobs. UpgradeJobHooks select jobs by them.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// annotations of the jobs.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// UpgradeConfigJobTemplate is what jobs are made from.
type UpgradeConfigJobTemplate struct {
	// metadata of the jobs.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitempty"`
	// spec of the jobs.
	Spec UpgradeConfigJobTemplateSpec `json:"spec"`
}

// UpgradeConfigSpec says when the cluster upgrades itself, and how.
type UpgradeConfigSpec struct {
	// schedule of the maintenance windows.
	Schedule UpgradeConfigSchedule `json:"schedule"`
	// pinVersionWindow is how long before the window the version is pinned and the UpgradeJob created, e.g. 4h. Default: 0, just in time.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('8760h')",message="must not be above 8760h"
	// +optional
	PinVersionWindow *metav1.Duration `json:"pinVersionWindow,omitempty"`
	// maxSchedulingDelay is how long after schedule − pinVersionWindow a job may still be created, for instance because the manager
	// was away. Later than that the window is skipped. Default: 1h.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('8760h')",message="must not be above 8760h"
	// +kubebuilder:default="1h"
	// +optional
	MaxSchedulingDelay *metav1.Duration `json:"maxSchedulingDelay,omitempty"`
	// maxUpgradeStartDelay is how long after the scheduled time the job may still start. Later than that it fails as Expired.
	// Default: 1h.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('8760h')",message="must not be above 8760h"
	// +kubebuilder:default="1h"
	// +optional
	MaxUpgradeStartDelay *metav1.Duration `json:"maxUpgradeStartDelay,omitempty"`
	// successfulJobsHistoryLimit is how many jobs that succeeded are kept; 0 or less keeps all. The latest job is always kept. Default: 4.
	// +optional
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`
	// failedJobsHistoryLimit is how many jobs that failed are kept; 0 or less keeps all. The latest job is always kept. Default: 4.
	// +optional
	FailedJobsHistoryLimit *int32 `json:"failedJobsHistoryLimit,omitempty"`
	// jobTemplate is what the jobs are made from.
	JobTemplate UpgradeConfigJobTemplate `json:"jobTemplate"`
}

// NextPossibleSchedule is a maintenance window to come.
type NextPossibleSchedule struct {
	// time at which it begins.
	Time metav1.Time `json:"time"`
}

// UpgradeConfigStatus is what has been scheduled.
type UpgradeConfigStatus struct {
	// lastScheduledUpgrade is the beginning of the latest window that was dealt with: a job was created, or would have been had it
	// not been suspended.
	// +optional
	LastScheduledUpgrade *metav1.Time `json:"lastScheduledUpgrade,omitempty"`
	// nextPossibleSchedules are the next ten windows for which no job was created yet.
	// +optional
	NextPossibleSchedules []NextPossibleSchedule `json:"nextPossibleSchedules,omitempty"`
	// conditions: Scheduled.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// observedGeneration is the generation of the spec that the status was worked out from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// ConditionScheduled is True while an UpgradeConfig creates jobs; the message says when the next one, or why not.
const ConditionScheduled = "Scheduled"

// The reasons of ConditionScheduled.
const (
	ReasonWaiting         = "Waiting"
	ReasonJobPending      = "JobPending"
	ReasonJobCreated      = "JobCreated"
	ReasonSuspended       = "UpgradeConfigSuspended"
	ReasonSuspendedWindow = "UpgradeConfigSuspendedBySuspensionWindow"
	ReasonWindowMissed    = "WindowMissed"
	ReasonInvalidSchedule = "InvalidSchedule"
	ReasonVersionsUnknown = "VersionsUnknown"
)

// UpgradeConfig creates an UpgradeJob for every maintenance window.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=uc
// +kubebuilder:printcolumn:name="Cron",type=string,JSONPath=`.spec.schedule.cron`
// +kubebuilder:printcolumn:name="Week",type=string,JSONPath=`.spec.schedule.isoWeek`
// +kubebuilder:printcolumn:name="Location",type=string,JSONPath=`.spec.schedule.location`
// +kubebuilder:printcolumn:name="Suspend",type=boolean,JSONPath=`.spec.schedule.suspend`
// +kubebuilder:printcolumn:name="Next",type=string,JSONPath=`.status.nextPossibleSchedules[0].time`
// +kubebuilder:printcolumn:name="Last",type=string,JSONPath=`.status.lastScheduledUpgrade`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Scheduled")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type UpgradeConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   UpgradeConfigSpec   `json:"spec"`
	Status UpgradeConfigStatus `json:"status,omitempty"`
}

// UpgradeConfigList is a list of UpgradeConfigs.
// +kubebuilder:object:root=true
type UpgradeConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []UpgradeConfig `json:"items"`
}

// PinVersionWindow is spec.pinVersionWindow, or its default.
func (c *UpgradeConfig) PinVersionWindow() time.Duration {
	return orDefault(c.Spec.PinVersionWindow, 0)
}

// MaxSchedulingDelay is spec.maxSchedulingDelay, or its default.
func (c *UpgradeConfig) MaxSchedulingDelay() time.Duration {
	return orDefault(c.Spec.MaxSchedulingDelay, DefaultMaxSchedulingDelay)
}

// MaxUpgradeStartDelay is spec.maxUpgradeStartDelay, or its default.
func (c *UpgradeConfig) MaxUpgradeStartDelay() time.Duration {
	return orDefault(c.Spec.MaxUpgradeStartDelay, DefaultMaxUpgradeStartDelay)
}

func orDefault(d *metav1.Duration, or time.Duration) time.Duration {
	if d == nil {
		return or
	}
	return d.Duration
}
