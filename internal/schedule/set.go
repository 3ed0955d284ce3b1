package schedule

import "math/bits"

// set is a set of small numbers, a bit each.
type set []uint64

// newSet is an empty set for numbers below size.
func newSet(size int) set { return make(set, (size+63)/64) }

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }

// atOrAfter is the lowest member that is i or higher; -1 for none. i may be anything from 0.
func (s set) atOrAfter(i int) int {
	for word := i / 64; word < len(s); word++ {
		left := s[word]
		if word == i/64 {
			left &= ^uint64(0) << (i % 64)
		}
		if left != 0 {
			return word*64 + bits.TrailingZeros64(left)
		}
	}
	return -1
}

// atOrBefore is the highest member that is i or lower; -1 for none. i is below the set's size, and may be negative.
func (s set) atOrBefore(i int) int {
	if i < 0 {
		return -1
	}
	for word := min(i/64, len(s)-1); word >= 0; word-- {
		left := s[word]
		if word == i/64 {
			left &= ^uint64(0) >> (63 - i%64)
		}
		if left != 0 {
			return word*64 + 63 - bits.LeadingZeros64(left)
		}
	}
	return -1
}
