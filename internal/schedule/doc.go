// Package schedule says when a recurring maintenance window comes: a cron expression, narrowed to ISO weeks, read on the clock of one
// place. It is pure: the only clock is the instant that is passed in.
//
// The rules of time:
//
//   - The cron expression and the ISO week are both read on the local clock of the schedule's location.
//   - A local time that a clock change leaves out (02:30 on a spring-forward day) fires at the first instant after the gap. It counts
//     for the day, and the week, that it would have been. Several local times in one gap fire once, being the same instant.
//   - A local time that comes twice (02:30 on a fall-back day) fires once, the first time. So an hourly schedule pauses for the hour
//     that is repeated.
//   - After an odd week 53 comes the odd week 1: @odd fires in both.
//   - A schedule that could never fire is refused.
package schedule
