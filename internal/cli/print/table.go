// Package print writes what commands list: as a table, or as JSON or YAML for programs.
package print

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Column of a table.
type Column struct {
	// Name in the heading.
	Name string
	// Wide columns are shown by -o wide alone.
	Wide bool
}

// Table is what a command lists.
type Table struct {
	Columns []Column
	// Rows have a cell for each column, wide ones included.
	Rows [][]string
}

// gap between two columns.
const gap = "   "

// Write writes the table, its wide columns only where they are asked for. An empty cell shows as "-".
func (t Table) Write(w io.Writer, wide bool) error {
	for _, line := range t.Lines(wide) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return fmt.Errorf("write the table: %w", err)
		}
	}
	return nil
}

// Lines are the table's lines, the heading first.
func (t Table) Lines(wide bool) []string {
	var shown []int
	for i, c := range t.Columns {
		if wide || !c.Wide {
			shown = append(shown, i)
		}
	}
	grid := make([][]string, 0, len(t.Rows)+1)
	heading := make([]string, 0, len(shown))
	for _, i := range shown {
		heading = append(heading, t.Columns[i].Name)
	}
	grid = append(grid, heading)
	for _, row := range t.Rows {
		cells := make([]string, 0, len(shown))
		for _, i := range shown {
			cells = append(cells, cell(row[i]))
		}
		grid = append(grid, cells)
	}
	return align(grid)
}

func cell(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return "-"
	}
	return text
}

func align(grid [][]string) []string {
	widths := make([]int, len(grid[0]))
	for _, row := range grid {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	lines := make([]string, 0, len(grid))
	for _, row := range grid {
		var line strings.Builder
		for i, c := range row {
			line.WriteString(c)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)) + gap)
			}
		}
		lines = append(lines, line.String())
	}
	return lines
}
