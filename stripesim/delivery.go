package stripesim

import (
	"time"

	"payonce/stripesim/control"
)

const deliveriesBucket = "deliveries"

// delivery is one event on its way to one endpoint. It is guarded by the lock of the dispatcher.
type delivery struct {
	Seq      int64
	Event    string
	Endpoint string
	Status   string // control.Delivery…
	Fault    string
	Tries    []control.Try
	NextTry  time.Time // the twin's clock; set while a retry is planned

	event  *event
	delay  time.Duration // before the first try
	copies int           // sends that are still to be made besides the first
}

// open says whether the delivery may still send.
func (d *delivery) open() bool { return d.Status == control.DeliveryPending }

// gaps between tries, on the twin's clock, times the retry scale. Stripe publishes none: live retries go on for up to
// three days with growing gaps, the sandbox tries three times over a few hours (Stripe docs, Webhooks).
func gaps(livemode bool) []time.Duration {
	if !livemode {
		return []time.Duration{10 * time.Minute, time.Hour, 2 * time.Hour}
	}
	return []time.Duration{5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
		12 * time.Hour, 12 * time.Hour, 12 * time.Hour, 12 * time.Hour}
}

// tried notes the outcome of a try and plans the next, while the endpoint exists.
func (d *delivery) tried(try control.Try, scale float64, exists bool) {
	d.Tries = append(d.Tries, try)
	d.NextTry = time.Time{}
	if try.Status/100 == 2 {
		d.Status = control.DeliveryDelivered
		return
	}
	if !d.open() {
		return
	}
	plan := gaps(d.event.Livemode)
	if len(d.Tries) > len(plan) || !exists {
		d.Status = control.DeliveryFailed
		return
	}
	d.NextTry = try.Time.Add(time.Duration(float64(plan[len(d.Tries)-1]) * scale))
}

// resent notes a try that a person asked for: it can only acknowledge the delivery, and plans nothing.
func (d *delivery) resent(try control.Try) {
	d.Tries = append(d.Tries, try)
	if try.Status/100 == 2 {
		d.Status, d.NextTry = control.DeliveryDelivered, time.Time{}
	}
}

// show is the delivery as the control API shows it.
func (d *delivery) show(url string) control.Delivery {
	shown := control.Delivery{Endpoint: d.Endpoint, URL: url, Status: d.Status, Fault: d.Fault, Tries: append([]control.Try{}, d.Tries...)}
	if !d.NextTry.IsZero() {
		next := d.NextTry
		shown.NextTry = &next
	}
	return shown
}
