package datatable

import (
	"context"
	"sync"
	"time"
)

// lull is how long nothing may have been granted before a grant is taken away.
const lull = 250 * time.Millisecond

// quiet lets the destruction of a grant wait for grants that are made in the
// same apply. Terraform runs the two side by side, and where a grant has moved
// to another address, as with a new for_each key, the one that goes and the one
// that comes want the same: if the new claim is there first, there is nothing
// to revoke, and nobody is without the privilege in between. An apply that
// grants nothing waits once, when it begins.
type quiet struct {
	mu     sync.Mutex
	active int
	last   time.Time
}

func newQuiet() quiet { return quiet{last: time.Now()} }

// granting marks that a grant is made, until done is called.
func (q *quiet) granting() (done func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.active++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.active--
		q.last = time.Now()
	}
}

// wait returns when nothing has been granted for a while. It is no lock: what
// starts to be granted later does not matter to correctness, only to whether
// there is a gap.
func (q *quiet) wait(ctx context.Context) {
	for {
		rest := q.rest()
		if rest <= 0 {
			return
		}
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return
		}
	}
}

func (q *quiet) rest() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.active > 0 {
		return lull
	}
	return lull - time.Since(q.last)
}
