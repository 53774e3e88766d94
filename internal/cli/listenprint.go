package cli

import (
	"bytes"
	"context"
	"fmt"

	"hookd/internal/receiver"
)

// printDelivery prints a delivery of listen: a head line and the body for a person, else a JSON object on a line.
func (o *listenOptions) printDelivery(ctx context.Context, d receiver.Delivery) error {
	var buf bytes.Buffer
	if o.format == formatTable {
		o.writeDelivery(&buf, d)
	} else if err := o.writeData(ctx, &buf, d); err != nil {
		return err
	}
	return o.flush(&buf)
}

func (o *listenOptions) writeDelivery(buf *bytes.Buffer, d receiver.Delivery) {
	verdict := o.painter.paint(good, "verified")
	if !d.Verified {
		verdict = o.painter.paint(bad, "not verified: "+safe(d.Problem))
	}
	answered := good
	if d.Status < 200 || d.Status > 299 {
		answered = bad
	}
	fmt.Fprintf(buf, "%s  %s  attempt %d  %s  answered %s\n",
		o.painter.paint(strong, orAbsent(safe(d.WebhookID))), orAbsent(safe(d.Type)), d.Attempt, verdict,
		o.painter.paint(answered, fmt.Sprint(d.Status)))
	body := []byte(d.Body)
	text := safeLines(d.Body)
	if looksLikeJSON(body) {
		text = o.painter.paintJSON(safeLines(string(tree{raw: body}.indented())))
	}
	for _, line := range bytes.Split([]byte(text), []byte("\n")) {
		fmt.Fprintf(buf, "  %s\n", line)
	}
}

func orAbsent(s string) string {
	if s == "" {
		return absentInRow
	}
	return s
}
