// Package proxy stands between a client and a Postgres server and counts what
// passes, so that tests can hold an operation to its number of statements, round
// trips and connections.
package proxy

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// Counts are what passed since the start or the last Reset.
type Counts struct {
	// Open is the number of sessions now, Peak the highest it was, Total how many
	// began. A request to cancel a statement is a connection but no session.
	Open, Peak, Total int
	// Statements is the number of simple queries and of executed portals.
	Statements int
	// RoundTrips is how often the server said that it is ready for a query,
	// the one after a login left out: one for each Query or Sync.
	RoundTrips int
}

// Proxy is a running proxy.
type Proxy struct {
	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu         sync.Mutex
	counts     Counts
	statements []string
	conns      map[net.Conn]struct{}
	closed     bool
}

// Start makes a proxy to the server at target, a host:port. Its sessions are not
// encrypted: a client with sslmode=require is refused as by a server without TLS.
func Start(target string) (*Proxy, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{target: target, listener: listener, conns: map[net.Conn]struct{}{}}
	p.running.Go(p.accept)
	return p, nil
}

// Addr is the host:port to connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Counts returns what was counted up to now. What a client has its answer to is
// counted.
func (p *Proxy) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts
}

// Statements are the texts that were parsed or sent as simple queries, in the
// order in which they came.
func (p *Proxy) Statements() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.statements...)
}

// Reset starts counting anew. Open sessions stay open, and counted as such.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts = Counts{Open: p.counts.Open, Peak: p.counts.Open}
	p.statements = nil
}

// Close ends the proxy and all that goes through it, and waits until it has.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	err := p.listener.Close()
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // Closed.
		}
		p.running.Go(func() {
			if !p.keep(client) {
				return
			}
			defer p.drop(client)
			p.serve(client)
		})
	}
}

// keep notes a connection for Close, and closes it at once when that was called.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close()
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) drop(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *Proxy) count(f func(*Counts)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.counts)
}

// The codes that a first message has instead of a protocol version.
const (
	codeCancel = 80877102
	codeTLS    = 80877103
	codeGSS    = 80877104
)

// maxMessage guards against reading a length from what is not a message.
const maxMessage = 1 << 30

func (p *Proxy) serve(client net.Conn) {
	reader := bufio.NewReader(client)
	var first []byte
	for {
		var err error
		if first, err = readFirst(reader); err != nil {
			return
		}
		code := binary.BigEndian.Uint32(first[4:])
		if code != codeTLS && code != codeGSS {
			break
		}
		// No encryption; the client goes on with another first message.
		if _, err := client.Write([]byte{'N'}); err != nil {
			return
		}
	}

	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		return
	}
	if !p.keep(server) {
		return
	}
	defer p.drop(server)
	if _, err := server.Write(first); err != nil {
		return
	}
	if binary.BigEndian.Uint32(first[4:]) == codeCancel {
		// Neither side says more; the server closes when it has done its part.
		_, _ = io.Copy(client, server)
		return
	}

	p.count(func(c *Counts) {
		c.Open++
		c.Total++
		c.Peak = max(c.Peak, c.Open)
	})
	defer p.count(func(c *Counts) { c.Open-- })

	var halves sync.WaitGroup
	halves.Go(func() {
		defer func() { _ = server.Close() }()
		pass(server, reader, p.fromClient)
	})
	halves.Go(func() {
		defer func() { _ = client.Close() }()
		loggedIn := false
		pass(client, bufio.NewReader(server), func(kind byte, _ []byte) {
			if kind != 'Z' {
				return
			}
			if loggedIn {
				p.count(func(c *Counts) { c.RoundTrips++ })
			}
			loggedIn = true
		})
	})
	halves.Wait()
}

// fromClient counts a message of a client.
func (p *Proxy) fromClient(kind byte, body []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch kind {
	case 'Q': // Query: text
		p.counts.Statements++
		text, _ := cutString(body)
		p.statements = append(p.statements, text)
	case 'P': // Parse: name, text, parameter types
		_, rest := cutString(body)
		text, _ := cutString(rest)
		p.statements = append(p.statements, text)
	case 'E': // Execute
		p.counts.Statements++
	}
}

// cutString splits off a string that ends with a zero byte.
func cutString(b []byte) (s string, rest []byte) {
	for i, c := range b {
		if c == 0 {
			return string(b[:i]), b[i+1:]
		}
	}
	return string(b), nil
}

// pass hands messages on until one side ends. Each is seen by look before it is
// sent, so that what a client has an answer to has been counted.
func pass(to io.Writer, from *bufio.Reader, look func(kind byte, body []byte)) {
	for {
		message, err := readMessage(from)
		if err != nil {
			return
		}
		look(message[0], message[5:])
		if _, err := to.Write(message); err != nil {
			return
		}
	}
}

// readMessage reads a message with its head: a kind, and a length that includes
// itself but not the kind.
func readMessage(r io.Reader) ([]byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	return readBody(r, head[:], binary.BigEndian.Uint32(head[1:]), 4)
}

// readFirst reads a message as the first of a connection is: without a kind, and
// with a code after the length.
func readFirst(r io.Reader) ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	return readBody(r, head[:], binary.BigEndian.Uint32(head[:]), 8)
}

// readBody reads what is left of a message of which the head, with seen bytes of
// its length, was read.
func readBody(r io.Reader, head []byte, length, seen uint32) ([]byte, error) {
	if length < seen || length > maxMessage {
		return nil, fmt.Errorf("a message cannot have %d bytes", length)
	}
	message := make([]byte, len(head)+int(length-seen))
	copy(message, head)
	_, err := io.ReadFull(r, message[len(head):])
	return message, err
}
