package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"
)

// print writes what one rollout took.
func (f *figures) print(out io.Writer) {
	table(out, []*figures{f})
	fmt.Fprintln(out, "\nRequests a node, by verb and resource:")
	keys := slices.SortedFunc(maps.Keys(f.ByResource), func(a, b string) int { return cmp.Compare(f.ByResource[b], f.ByResource[a]) })
	for _, k := range keys {
		if f.ByResource[k] >= 0.005 {
			fmt.Fprintf(out, "  %6.2f  %s\n", f.ByResource[k], k)
		}
	}
}

// table prints sizes side by side.
func table(out io.Writer, all []*figures) {
	w := tabwriter.NewWriter(out, 2, 4, 2, ' ', tabwriter.AlignRight)
	row := func(name string, value func(*figures) string) {
		fmt.Fprintf(w, "%s\t", name)
		for _, f := range all {
			fmt.Fprintf(w, "%s\t", value(f))
		}
		fmt.Fprintln(w)
	}
	row("workers", func(f *figures) string { return fmt.Sprint(f.Nodes) })
	row("may be out at once", func(f *figures) string { return fmt.Sprint(f.Limit) })
	row("the steps of one take", func(f *figures) string { return fmt.Sprintf("%.0f s", f.NodeTime) })
	row("whole rollout", func(f *figures) string { return fmt.Sprintf("%.0f s", f.Total) })
	row("its workers", func(f *figures) string { return fmt.Sprintf("%.1f s", f.Workers) })
	row("ideal of the same waves", func(f *figures) string { return fmt.Sprintf("%.1f s", f.Ideal) })
	row("against the ideal", func(f *figures) string { return fmt.Sprintf("%.2f", f.Workers/f.Ideal) })
	row("done → next started, p50", func(f *figures) string { return fmt.Sprintf("%.0f ms", 1000*f.StartP50) })
	row("done → next started, p99", func(f *figures) string { return fmt.Sprintf("%.0f ms", 1000*f.StartP99) })
	row("requests a node", func(f *figures) string { return fmt.Sprintf("%.1f", f.Requests) })
	for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete"} {
		row("  "+verb, func(f *figures) string { return fmt.Sprintf("%.2f", f.ByVerb[verb]) })
	}
	row("watch bytes a node", func(f *figures) string { return fmt.Sprintf("%.0f kB", f.WatchBytes/1000) })
	row("other bytes a node", func(f *figures) string { return fmt.Sprintf("%.0f kB", f.ReadBytes/1000) })
	row("processor time a node", func(f *figures) string { return fmt.Sprintf("%.0f ms", f.Milliseconds) })
	row("memory of a manager, at most", func(f *figures) string { return fmt.Sprintf("%.0f MB", f.Memory) })
	for _, controller := range []string{"nodeupgrade", "kubernetesupgrade", "controlplaneupgrade", "kubernetesversion"} {
		row("reconcile p99, "+controller, func(f *figures) string { return fmt.Sprintf("%.0f ms", 1000*f.ReconcileP99[controller]) })
	}
	row("out of service at most", func(f *figures) string { return fmt.Sprintf("%d of %d", f.MostOut, f.Limit) })
	row("failed nodes", func(f *figures) string { return fmt.Sprint(f.Failures) })
	row("leader killed → work resumed", func(f *figures) string { return fmt.Sprintf("%.1f s", f.KilledToWrite) })
	row("leader killed → next started", func(f *figures) string { return fmt.Sprintf("%.1f s", f.KilledToStart) })
	row("under its own FlowSchemas", func(f *figures) string { return fmt.Sprintf("%.0f %%", 100*f.OwnFlowSchemas) })
	w.Flush()
}

// verdict is whether one of the held numbers holds.
type verdict struct {
	What  string `json:"what"`
	Holds bool   `json:"holds"`
	Seen  string `json:"seen"`
}

// verdicts say of each held number whether it holds at every size that was measured.
func verdicts(all []*figures) []verdict {
	worst := func(of func(*figures) float64) float64 {
		most := math.Inf(-1)
		for _, f := range all {
			most = max(most, of(f))
		}
		return most
	}
	start, requests, memory := worst(func(f *figures) float64 { return f.StartP99 }), worst(func(f *figures) float64 { return f.Requests }),
		worst(func(f *figures) float64 { return f.Memory })
	passed := worst(func(f *figures) float64 { return float64(f.Violations) })
	out := []verdict{
		{"done → next started, p99 ≤ 1 s", start <= heldStart, fmt.Sprintf("%.2f s", start)},
		{"≤ 15 API requests a node", requests <= heldRequests, fmt.Sprintf("%.1f", requests)},
		{"≤ 150 MB of memory", memory <= heldMemory, fmt.Sprintf("%.0f MB", memory)},
		{"the limit is never passed", passed == 0, fmt.Sprintf("passed at %.0f instants", passed)},
	}
	first, last := all[0], all[len(all)-1]
	for _, cost := range []struct {
		what string
		of   func(*figures) float64
	}{
		{"requests", func(f *figures) float64 { return f.Requests }},
		{"watch bytes", func(f *figures) float64 { return f.WatchBytes }},
		{"other bytes", func(f *figures) float64 { return f.ReadBytes }},
		{"processor time", func(f *figures) float64 { return f.Milliseconds }},
	} {
		growth := cost.of(last) / cost.of(first)
		out = append(out, verdict{fmt.Sprintf("%s a node flat from %d to %d", cost.what, first.Nodes, last.Nodes), growth <= heldGrowth, fmt.Sprintf("× %.2f", growth)})
	}
	return out
}
