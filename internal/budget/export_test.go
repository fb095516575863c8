package budget

import "payonce/payments"

// Waiting is how many calls of the account wait in this process.
func (b *Budget) Waiting(account payments.Account) int {
	q := b.queue(account)
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}
