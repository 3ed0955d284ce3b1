package cli

import (
	"fmt"
	"slices"
	"strings"
)

// suggest says which of the known names a person may have meant, empty where none is close.
func suggest(name string, known []string) string {
	var close []string
	for _, k := range known {
		if strings.Contains(k, name) || strings.Contains(name, k) || distance(name, k) <= max(2, len(name)/4) {
			close = append(close, k)
		}
	}
	slices.SortStableFunc(close, func(a, b string) int { return distance(name, a) - distance(name, b) })
	if len(close) == 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", strings.Join(close[:min(len(close), 3)], " or "))
}

// suggestNamespaced is suggest for names that have their namespace before them, which need not be typed.
func suggestNamespaced(name string, known []string) string {
	if strings.Contains(name, "/") {
		return suggest(name, known)
	}
	var bare []string
	for _, k := range known {
		bare = append(bare, k[strings.LastIndex(k, "/")+1:])
	}
	slices.Sort(bare)
	return suggest(name, slices.Compact(bare))
}

// distance is the number of letters to change, add or remove to make one word of the other.
func distance(a, b string) int {
	previous := make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range len(a) {
		current := make([]int, len(b)+1)
		current[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			current[j+1] = min(previous[j+1]+1, current[j]+1, previous[j]+cost)
		}
		previous = current
	}
	return previous[len(b)]
}
