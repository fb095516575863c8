package boundaries

// SweepKeys is the statement whose plan a test looks at.
const SweepKeys = sweepKeys
