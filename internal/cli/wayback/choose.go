package wayback

import "refit.dev/refit/internal/version"

// Choose takes the snapshot that brings most of the way back: the oldest that was taken before the upgrade to the version that runs, and, where
// a version is asked for, while that version, or another patch release of it, ran. nil where there is none.
func Choose(all []Snapshot, runs, to string) *Snapshot {
	for i := range all {
		s := &all[i]
		if to != "" && version.Minor(s.From) == version.Minor(to) && version.Compare(s.Before, to) > 0 || to == "" && s.Before == runs {
			return s
		}
	}
	return nil
}
