package stripesim

import "sort"

// scope is whose an object is: nothing is visible to another account or mode.
type scope struct {
	Account  string
	Livemode bool
}

// record is what a table keeps.
type record interface {
	key() string      // its id
	owner() scope     //
	createdAt() int64 // Unix seconds
	number() *int64   // its place in the order of creation, given by the table
}

// table keeps the objects of one kind: by id, by scope in order of creation, and all in order of creation. It is
// guarded by the lock of the books.
type table[T record] struct {
	bucket string
	byID   map[string]T
	all    []T
	lines  map[scope]*timeline[T]
}

// timeline is the objects of one scope in order of creation.
type timeline[T record] struct {
	rows     []T
	position map[string]int
	shuffled bool // the clock was once set back: created does not follow the order
}

func newTable[T record](bucket string) *table[T] {
	return &table[T]{bucket: bucket, byID: map[string]T{}, lines: map[scope]*timeline[T]{}}
}

// add gives the row its number and files it.
func (t *table[T]) add(row T) {
	*row.number() = int64(len(t.all)) + 1
	t.file(row)
}

func (t *table[T]) file(row T) {
	t.byID[row.key()] = row
	t.all = append(t.all, row)
	line := t.lines[row.owner()]
	if line == nil {
		line = &timeline[T]{position: map[string]int{}}
		t.lines[row.owner()] = line
	}
	if n := len(line.rows); n > 0 && line.rows[n-1].createdAt() > row.createdAt() {
		line.shuffled = true
	}
	line.position[row.key()] = len(line.rows)
	line.rows = append(line.rows, row)
}

// find returns the row with this id if it belongs to the scope.
func (t *table[T]) find(s scope, id string) (T, bool) {
	row, found := t.byID[id]
	if !found || row.owner() != s {
		var none T
		return none, false
	}
	return row, true
}

// missingIn is the refusal of an id that the scope does not have; it says when the other mode has it.
func missingIn[T record](t *table[T], s scope, noun, id, param string) *apiError {
	e := resourceMissing(404, noun, id, param)
	if _, found := t.find(scope{s.Account, !s.Livemode}, id); found {
		has, used := "test", "live"
		if !s.Livemode {
			has, used = used, has
		}
		e.Message += "; a similar object exists in " + has + " mode, but a " + used + " mode key was used to make this request."
	}
	return e
}

// after returns at most limit rows with a number greater than seq for which keep says yes.
func (t *table[T]) after(seq int64, limit int, keep func(T) bool) []T {
	rows := []T{}
	for i := max(seq, 0); i < int64(len(t.all)) && len(rows) < limit; i++ {
		if keep(t.all[i]) {
			rows = append(rows, t.all[i])
		}
	}
	return rows
}

// page returns the rows of a list request, newest first, and whether there are more.
func (t *table[T]) page(s scope, q listQuery, keep func(T) bool) (rows []T, more bool, err *apiError) {
	line := t.lines[s]
	if line == nil {
		line = &timeline[T]{}
	}
	if q.endingBefore != "" {
		return line.upwards(q, keep)
	}
	from := len(line.rows) - 1
	if q.startingAfter != "" {
		at, found := line.position[q.startingAfter]
		if !found {
			return nil, false, noSuchCursor(q.startingAfter, "starting_after")
		}
		from = at - 1
	}
	for i := from; i >= 0; i-- {
		row := line.rows[i]
		if q.tooOld(row.createdAt()) && !line.shuffled {
			break
		}
		if !q.created(row.createdAt()) || !keep(row) {
			continue
		}
		if len(rows) == q.limit {
			return rows, true, nil
		}
		rows = append(rows, row)
	}
	return rows, false, nil
}

// upwards returns the limit rows just newer than the cursor, newest first.
func (l *timeline[T]) upwards(q listQuery, keep func(T) bool) (rows []T, more bool, err *apiError) {
	at, found := l.position[q.endingBefore]
	if !found {
		return nil, false, noSuchCursor(q.endingBefore, "ending_before")
	}
	for i := at + 1; i < len(l.rows); i++ {
		row := l.rows[i]
		if !q.created(row.createdAt()) || !keep(row) {
			continue
		}
		if len(rows) == q.limit {
			more = true
			break
		}
		rows = append(rows, row)
	}
	sort.SliceStable(rows, func(i, j int) bool { return l.position[rows[i].key()] > l.position[rows[j].key()] })
	return rows, more, nil
}

func noSuchCursor(id, param string) *apiError { return resourceMissing(400, "object", id, param) }

// listQuery is the parameters that every list takes.
type listQuery struct {
	limit                       int
	startingAfter, endingBefore string
	from, until                 int64 // created, inclusive; until 0 = no bound
}

// readLimit reads how many rows a page has at most.
func readLimit(p *params) int {
	limit := p.integer("limit")
	if limit == nil {
		return 10
	}
	if *limit < 1 || *limit > 100 {
		p.fail(invalidRequest("parameter_invalid_integer", "Invalid limit: must be between 1 and 100.", "limit"))
	}
	return int(*limit)
}

func readListQuery(p *params) listQuery {
	q := listQuery{limit: readLimit(p)}
	q.startingAfter, _ = p.text("starting_after")
	q.endingBefore, _ = p.text("ending_before")
	if q.startingAfter != "" && q.endingBefore != "" {
		p.fail(invalidRequest("", "You may only specify one of these parameters: ending_before, starting_after.", ""))
	}
	if exact := p.integer("created"); exact != nil {
		q.from, q.until = *exact, *exact
	}
	if bound := p.integer("created[gte]"); bound != nil {
		q.from = max(q.from, *bound)
	}
	if bound := p.integer("created[gt]"); bound != nil {
		q.from = max(q.from, *bound+1)
	}
	if bound := p.integer("created[lte]"); bound != nil {
		q.until = *bound
	}
	if bound := p.integer("created[lt]"); bound != nil && (q.until == 0 || *bound-1 < q.until) {
		q.until = *bound - 1
	}
	return q
}

func (q listQuery) tooOld(created int64) bool { return created < q.from }

func (q listQuery) created(created int64) bool {
	return created >= q.from && (q.until == 0 || created <= q.until)
}
