package ledger

// SelectBalances is the statement whose plan a test looks at.
const SelectBalances = selectBalances

// ContentHash is pinned by a golden test.
func (p Posting) ContentHash() []byte { return p.contentHash() }
