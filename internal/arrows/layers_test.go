package arrows_test

// layers are the packages of the engine in their order: each may import those above it and the internal helpers.
var layers = []string{
	"payonce/payments/...",
	"payonce/boundaries/...",
	"payonce/ledger/...",
	"payonce/notifications/...",
	"payonce/api/...",
	"payonce/workflows/...",
	"payonce/activities/...",
	"payonce/webhooks/...",
	"payonce/recovery/...",
	"payonce/worker/...",
	"payonce/client/...",
}

// tops put the whole together and may import all of it.
var tops = []string{
	"payonce/cmd/...",
	"payonce/internal/app/...",
	"payonce/internal/bench/...",
	"payonce/internal/demo/...",
	"payonce/internal/devstack/...",
	"payonce/internal/testkit/...",
}

// helpersFrom is the place in layers of the first that no helper may import: helpers may use the words and the protocol.
const helpersFrom = 2

// layerArrows says the order of the layers as arrows.
func layerArrows() []arrow {
	var arrows []arrow
	for i := range layers[:len(layers)-1] {
		arrows = append(arrows, arrow{
			from:   layers[i : i+1],
			never:  layers[i+1:],
			reason: "a package imports only packages above it, so that what money means is decided before how it is reached",
		})
	}
	return append(arrows, arrow{
		from:   []string{"payonce/internal/..."},
		except: append([]string{"payonce/internal/arrows/...", "payonce/internal/mutants/..."}, tops...),
		never:  layers[helpersFrom:],
		reason: "a helper serves every layer and so stands above all but the words and the protocol",
	})
}
