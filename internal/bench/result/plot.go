package result

import (
	"fmt"
	"html"
	"io"
	"math"
)

// Measures of the plot in pixels.
const (
	plotWidth  = 900
	labelWidth = 250
	barSpace   = 500 // from nothing to twice the bar
	lineHeight = 26
	barHeight  = 14
	headHeight = 56
)

// Plot writes an SVG: for each row with a bar, how far its ratio goes on a scale that puts every bar at the same line, so that one look tells which
// side of it each row is on.
func (r Report) Plot(out io.Writer) {
	var judged []Row
	for _, row := range r.Rows {
		if row.Met != nil {
			judged = append(judged, row)
		}
	}
	height := headHeight + lineHeight*len(judged) + 20
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13">`+"\n", plotWidth, height)
	fmt.Fprintf(out, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", plotWidth, height)
	fmt.Fprintf(out, `<text x="10" y="20" font-size="15">Ratios to their baselines, as a part of their bars (%s)</text>`+"\n", html.EscapeString(r.Commit))
	fmt.Fprintf(out, `<text x="10" y="40" fill="#555555">%s, %d cores; the line is the bar of each row</text>`+"\n",
		html.EscapeString(r.Machine.CPU), r.Machine.Cores)
	for i, row := range judged {
		plotRow(out, headHeight+lineHeight*i, row)
	}
	middle := labelWidth + barSpace/2
	fmt.Fprintf(out, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#222222" stroke-width="1.5" stroke-dasharray="4 3"/>`+"\n</svg>\n",
		middle, headHeight-8, middle, height-12)
}

func plotRow(out io.Writer, y int, row Row) {
	colour := "#2f7d4f"
	if row.Missed() {
		colour = "#b3372f"
	}
	width := math.Min(row.Ratio/row.bar.Limit, 2) * barSpace / 2
	if math.IsNaN(width) || width < 1 {
		width = 1
	}
	fmt.Fprintf(out, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", labelWidth-10, y+barHeight-2, html.EscapeString(row.Name))
	fmt.Fprintf(out, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", labelWidth, y, width, barHeight, colour)
	fmt.Fprintf(out, `<text x="%d" y="%d" fill="#333333">%.3g (bar %s)</text>`+"\n",
		labelWidth+barSpace+12, y+barHeight-2, row.Ratio, html.EscapeString(row.Bar))
}
