package view

import "strings"

// naturally compares names so that node-2 comes before node-10.
func naturally(a, b string) int {
	if order := byNumbers(a, b); order != 0 {
		return order
	}
	return strings.Compare(a, b) // node-02 and node-2
}

func byNumbers(a, b string) int {
	for a != "" && b != "" {
		x, y := leadingNumber(a), leadingNumber(b)
		if x == "" || y == "" {
			if a[0] != b[0] {
				return strings.Compare(a[:1], b[:1])
			}
			a, b = a[1:], b[1:]
			continue
		}
		a, b = a[len(x):], b[len(y):]
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if len(x) != len(y) {
			return len(x) - len(y)
		}
		if x != y {
			return strings.Compare(x, y)
		}
	}
	return len(a) - len(b)
}

func leadingNumber(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
}
