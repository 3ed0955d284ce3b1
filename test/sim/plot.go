package main

import (
	"bytes"
	"fmt"
	"math"
)

// panel is one of the small plots.
type panel struct {
	title string
	of    func(*figures) float64
	unit  string
	// held is the line that must not be passed, 0 for none.
	held float64
}

var panels = []panel{
	{"API requests a node", func(f *figures) float64 { return f.Requests }, "", heldRequests},
	{"watch bytes a node", func(f *figures) float64 { return f.WatchBytes / 1000 }, " kB", 0},
	{"processor time a node", func(f *figures) float64 { return f.Milliseconds }, " ms", 0},
	{"done → next started, p99", func(f *figures) float64 { return 1000 * f.StartP99 }, " ms", 1000 * heldStart},
	{"memory of a manager", func(f *figures) float64 { return f.Memory }, " MB", heldMemory},
}

const (
	panelWidth, panelHeight = 250, 190
	left, right, top, foot  = 30, 30, 40, 30
	perRow                  = 3
)

// plot draws every panel against the number of nodes, which is on a logarithmic scale.
func plot(all []*figures) []byte {
	var b bytes.Buffer
	rows := (len(panels) + perRow - 1) / perRow
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="11">
<rect width="100%%" height="100%%" fill="white"/>
`, perRow*panelWidth, rows*panelHeight)
	for i, p := range panels {
		fmt.Fprintf(&b, "<g transform=\"translate(%d %d)\">\n", i%perRow*panelWidth, i/perRow*panelHeight)
		p.draw(&b, all)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func (p panel) draw(b *bytes.Buffer, all []*figures) {
	most := p.held
	for _, f := range all {
		most = max(most, p.of(f))
	}
	lowest, highest := math.Log(float64(all[0].Nodes)), math.Log(float64(all[len(all)-1].Nodes))
	x := func(f *figures) float64 {
		return left + (panelWidth-left-right)*(math.Log(float64(f.Nodes))-lowest)/max(highest-lowest, 1e-9)
	}
	y := func(v float64) float64 { return panelHeight - foot - (panelHeight-top-foot)*v/(1.1*max(most, 1e-9)) }
	fmt.Fprintf(b, "<text x=\"%d\" y=\"18\" font-weight=\"bold\">%s</text>\n", left-15, p.title)
	fmt.Fprintf(b, "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#999\"/>\n", left-15, top, panelHeight-foot, panelWidth-right+15)
	if p.held > 0 {
		fmt.Fprintf(b, "<path d=\"M%d %.1fH%d\" stroke=\"#c33\" stroke-dasharray=\"4 3\"/>\n", left-15, y(p.held), panelWidth-right+15)
		fmt.Fprintf(b, "<text x=\"%d\" y=\"%.1f\" fill=\"#c33\" text-anchor=\"end\">%.0f%s</text>\n", panelWidth-right+15, y(p.held)-4, p.held, p.unit)
	}
	for i, f := range all {
		v := p.of(f)
		if i > 0 {
			fmt.Fprintf(b, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"#247\" stroke-width=\"2\"/>\n", x(all[i-1]), y(p.of(all[i-1])), x(f), y(v))
		}
		fmt.Fprintf(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#247\"/>\n", x(f), y(v))
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.4g%s</text>\n", x(f), y(v)-8, math.Round(10*v)/10, p.unit)
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#666\">%d</text>\n", x(f), panelHeight-foot+15, f.Nodes)
	}
}
