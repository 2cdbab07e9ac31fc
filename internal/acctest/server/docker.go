package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// The library's own way to clean up after a killed process takes one more image,
// and a lifeline does without. Its messages are not for who runs our tests. It
// reads the variable once, at its first use by whomever.
func init() {
	if _, set := os.LookupEnv("TESTCONTAINERS_RYUK_DISABLED"); !set {
		_ = os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
	}
	log.SetDefault(log.NewNoopLogger())
}

// label marks the containers that are made here.
const label = "io.datatable.test"

// Tests of this package set these, to tell their own containers from others' and
// to have no image.
var (
	labelValue   = "server"
	defaultImage = DefaultImage
)

// fromDocker starts the image of EnvImage, or [DefaultImage].
func fromDocker(ctx context.Context, opt Options) (_ *Server, err error) {
	image := cmp.Or(os.Getenv(EnvImage), defaultImage)
	where := fmt.Sprintf("in Docker (image %s)", image)

	var provider *testcontainers.DockerProvider
	var c testcontainers.Container
	var lifeline io.Closer
	logs := &tail{}
	remove := func() error {
		if provider == nil {
			return nil
		}
		defer func() { _ = provider.Close() }()
		if lifeline != nil {
			_ = lifeline.Close()
		}
		if c == nil {
			return nil
		}
		return removeContainer(provider.Client(), c.GetContainerID())
	}
	launched := false
	defer func() {
		// The library panics where it finds no engine.
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
		if err != nil && !launched {
			err = errors.Join(fmt.Errorf("starting PostgreSQL %s: %w", where, err), logs.err(), remove())
		}
	}()

	if provider, err = testcontainers.NewDockerProvider(); err != nil {
		return nil, err
	}
	if _, err := provider.Client().ImageInspect(ctx, image); err != nil {
		_, _ = fmt.Fprintf(opt.Log, "pulling the Docker image %s\n", image)
		if err := provider.PullImage(ctx, image); err != nil {
			return nil, err
		}
	}

	// A request that is broken off may still make its container, which nobody
	// would then know to remove. So these short ones are not.
	whole := context.WithoutCancel(ctx)
	password := rand.Text()
	c, err = provider.CreateContainer(whole, testcontainers.ContainerRequest{
		Image:              image,
		Cmd:                append([]string{"postgres"}, opt.arguments(nil)...),
		Env:                map[string]string{"POSTGRES_USER": superuser, "POSTGRES_PASSWORD": password, "POSTGRES_DB": "postgres"},
		Labels:             map[string]string{label: labelValue},
		ExposedPorts:       []string{"5432/tcp"},
		HostConfigModifier: func(c *container.HostConfig) { c.AutoRemove = true },
		LogConsumerCfg:     &testcontainers.LogConsumerConfig{Consumers: []testcontainers.LogConsumer{logs}},
	})
	if err != nil {
		return nil, err
	}
	if err := c.Start(whole); err != nil {
		return nil, err
	}
	if lifeline, err = newLifeline(whole, provider.Client(), c.GetContainerID()); err != nil {
		return nil, err
	}
	address, err := publishedAddress(whole, c)
	if err != nil {
		return nil, err
	}

	alive := func() error {
		if state, err := c.State(ctx); err != nil || !state.Running {
			return errors.Join(errors.New("the container ended"), err, logs.err())
		}
		return nil
	}
	// An official image lets nobody in by TCP before it is set up, so the first
	// login is at the server that stays.
	launched = true
	return started(ctx, superuserURL(password, address), where, alive, remove)
}

// publishedAddress is where this process reaches the container's port. A guess
// by the library is right about distant engines, and about this process being in
// a container next to the engine's, but takes some machines for containers.
func publishedAddress(ctx context.Context, c testcontainers.Container) (string, error) {
	address, err := c.PortEndpoint(ctx, "5432/tcp", "")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	here := net.JoinHostPort("127.0.0.1", port)
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", here)
	if err != nil {
		return address, nil //nolint:nilerr // It is not here, then.
	}
	return here, conn.Close()
}

// newLifeline makes the container end with this process, however that ends: a
// command in it waits for the end of its input, which comes when the engine
// loses the connection returned here, and then signals postgres until all is
// over, for process 1 of a container that is being set up takes no notice.
func newLifeline(ctx context.Context, docker client.APIClient, id string) (io.Closer, error) {
	command, err := docker.ExecCreate(ctx, id, client.ExecCreateOptions{
		AttachStdin: true,
		Cmd:         []string{"sh", "-c", "cat; while kill -QUIT 1; do sleep 1; done"},
	})
	if err != nil {
		return nil, err
	}
	attached, err := docker.ExecAttach(ctx, command.ID, client.ExecAttachOptions{})
	if err != nil {
		return nil, err
	}
	return attached.Conn, nil
}

// removeContainer returns when the container and its volumes are gone. It works
// after the context that the container was started with has ended.
func removeContainer(docker client.APIClient, id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	gone := docker.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionRemoved})
	// It may be on its way out already, which is as good.
	_, removeErr := docker.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	select {
	case <-gone.Result:
		return nil
	case <-gone.Error: //nolint:errcheck // Whatever it is, what counts is looked at next.
	}
	if _, err := docker.ContainerInspect(ctx, id, client.ContainerInspectOptions{}); err == nil {
		return fmt.Errorf("removing the container %s: %w", id, removeErr)
	}
	return nil
}

// tail keeps the end of what a server logs, to explain why it did not start.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	const most = 4 << 10
	t.text.Write(p)
	if over := t.text.Len() - most; over > 0 {
		t.text.Next(over)
	}
	return len(p), nil
}

// Accept implements [testcontainers.LogConsumer].
func (t *tail) Accept(l testcontainers.Log) { _, _ = t.Write(l.Content) }

func (t *tail) err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text.Len() == 0 {
		return nil
	}
	return fmt.Errorf("its log ends with:\n%s", strings.TrimSpace(t.text.String()))
}

func superuserURL(password, address string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, password),
		Host: address, Path: "postgres", RawQuery: "sslmode=disable",
	}
	return u.String()
}
