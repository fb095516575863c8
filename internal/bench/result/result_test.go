package result

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedianIsTheMiddleWhateverTheOrder(t *testing.T) {
	values := []float64{5, 1, 3}
	require.InDelta(t, 3, Median(values), 0)
	require.Equal(t, []float64{5, 1, 3}, values, "the rounds stay in their order")
	require.InDelta(t, 2.5, Median([]float64{4, 1, 2, 3}), 0)
	require.True(t, math.IsNaN(Median(nil)))
}

func TestPercentileIsOneOfTheValues(t *testing.T) {
	var values []float64
	for i := 100; i > 0; i-- {
		values = append(values, float64(i))
	}
	require.InDelta(t, 50, Percentile(values, 50), 0)
	require.InDelta(t, 99, Percentile(values, 99), 0)
	require.InDelta(t, 100, Percentile(values, 100), 0)
	require.InDelta(t, 7, Percentile([]float64{7}, 1), 0)
	require.InDelta(t, 9, Percentile([]float64{9, 8}, 99), 0)
	require.True(t, math.IsNaN(Percentile(nil, 50)))
}

func TestABarIsMetOnItsOwnSideAndOnItself(t *testing.T) {
	for _, tc := range []struct {
		bar   *Bar
		ratio float64
		met   bool
	}{
		{AtLeast(0.33), 0.33, true}, {AtLeast(0.33), 0.4, true}, {AtLeast(0.33), 0.329, false},
		{AtMost(3), 3, true}, {AtMost(3), 0.1, true}, {AtMost(3), 3.01, false},
		{AtLeast(0.33), math.NaN(), false}, {AtMost(3), math.NaN(), false},
	} {
		require.Equal(t, tc.met, tc.bar.Met(tc.ratio), "%s of %g", tc.bar, tc.ratio)
	}
}

func TestARowIsTheRatioOfTheMedians(t *testing.T) {
	row := NewRow("rate", "1/s", []float64{30, 10, 20}, "bare", []float64{50, 40, 60}, AtLeast(0.4))
	require.InDelta(t, 20, row.Value, 0)
	require.InDelta(t, 50, row.Baseline, 0)
	require.InDelta(t, 0.4, row.Ratio, 0)
	require.Equal(t, ">= 0.4", row.Bar)
	require.False(t, row.Missed())
	require.True(t, NewRow("rate", "1/s", []float64{19}, "bare", []float64{50}, AtLeast(0.4)).Missed())
	require.False(t, NewRow("rate", "1/s", []float64{1}, "bare", []float64{50}, nil).Missed(), "without a bar nothing is missed")
}

func TestFiguresKeepFourDigits(t *testing.T) {
	for value, want := range map[float64]float64{0: 0, 123456: 123500, 0.0123456: 0.01235, -98.7654: -98.77, 1: 1} {
		require.InDelta(t, want, round(value), 1e-12)
	}
}

func sample() Report {
	return Report{
		Commit: "abc", Machine: Machine{CPU: "a <fast> one", Cores: 2},
		Rows: []Row{
			NewRow("good", "1/s", []float64{9}, "raw", []float64{10}, AtLeast(0.5)),
			NewRow("bad", "ms", []float64{9}, "raw", []float64{1}, AtMost(2)),
			NewRow("beside", "ms", []float64{9}, "raw", []float64{1}, nil),
		},
	}
}

func TestTheReportNamesWhatIsMissed(t *testing.T) {
	require.Equal(t, []string{"bad"}, sample().Missed())
	var table bytes.Buffer
	sample().Print(&table)
	require.Contains(t, table.String(), "MISSED")
	require.Contains(t, table.String(), "beside: against raw")
}

func TestTheFileHoldsTheFiguresByName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "latest.json")
	require.NoError(t, sample().Write(path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var read struct {
		Commit  string
		Machine map[string]any
		Rows    []map[string]any
	}
	require.NoError(t, json.Unmarshal(text, &read))
	require.Equal(t, "abc", read.Commit)
	for _, member := range []string{"name", "value", "unit", "baseline", "ratio", "bar", "met"} {
		require.Contains(t, read.Rows[0], member)
	}
	require.NotContains(t, read.Rows[2], "met")
	require.Equal(t, false, read.Rows[1]["met"])

	plot, err := os.Open(filepath.Join(filepath.Dir(path), "latest.svg"))
	require.NoError(t, err)
	defer plot.Close()
	for decoder := xml.NewDecoder(plot); ; {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, "the plot is well-formed, whatever the names hold")
	}
}

func TestAFigureThatIsNoNumberIsNotWritten(t *testing.T) {
	broken := Report{Rows: []Row{NewRow("nothing", "1/s", nil, "raw", []float64{1}, nil)}}
	_, err := broken.JSON()
	require.Error(t, err)
}
