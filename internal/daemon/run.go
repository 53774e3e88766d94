package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"hookd/internal/control"
	"hookd/internal/delivery"
	"hookd/internal/egress"
	"hookd/internal/keyring"
	"hookd/internal/store"
)

// Run is the daemon, from its start until ctx ends and everything is in order.
//
// What can be refused without touching anything is refused first. Then the data directory is locked, the master key is
// compared, the control socket is bound, and only then anything is read or sent. It stops in the opposite order: no
// more requests, no more lines, no new attempts; those in flight have delivery.shutdown_timeout to end and what they
// came to is committed.
//
// It returns nil after an ordered stop; a *config.Error, a *store.LockedError, a *KeyError or a *SocketError where it
// was refused; and any other error where something failed.
func Run(ctx context.Context, o Options) error {
	err := run(ctx, o)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // it was told to stop before it was ready
	}
	return err
}

func run(ctx context.Context, o Options) (err error) {
	if o.Temporary {
		defer func() { err = errors.Join(err, os.RemoveAll(o.Config.DataDir)) }()
	}
	o.warn()
	policy, err := o.policy()
	if err != nil {
		return err
	}
	gid, err := groupID(o.Config.Control.SocketGroup)
	if err != nil {
		return o.Config.Refuse("control.socket_group", err)
	}

	st, err := store.Open(ctx, store.Options{Dir: o.Config.DataDir, Logger: o.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	master, err := masterKey(ctx, st, o.Config.Signing, o.Log)
	if err != nil {
		return err
	}
	socket, err := bind(ctx, o.Socket, o.Config.Control.SocketMode, gid)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, socket.Close()) }()
	client, err := egress.NewClient(policy, egress.Options{MaxIdlePerHost: o.Config.Delivery.MaxInFlightPerHost})
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	defer client.Close()

	engine, err := o.engine(st, master, policy, client.Do)
	if err != nil {
		return err
	}
	if err := engine.Start(ctx); err != nil {
		return fmt.Errorf("start deliveries: %w", err)
	}
	defer o.stopEngine(ctx, engine)

	a := &api{
		store: st, engine: engine, sources: o.sources(st), overlap: o.Config.Signing.Overlap, dev: o.Dev,
		socket: absolute(o.Socket), started: time.Now(), log: o.Log, stopping: make(chan struct{}),
	}
	failed := make(chan error, len(a.sources)+1)
	defer startSources(ctx, a.sources, failed)()
	return o.serve(ctx, a, socket, failed)
}

// warn says at every start what makes this daemon unlike one that runs in earnest.
func (o Options) warn() {
	if o.Dev {
		o.Log.Warn("running with --dev: http and loopback targets are allowed")
	}
	if o.Temporary {
		o.Log.Warn("data directory is temporary and removed at the end", "data_dir", o.Config.DataDir)
	}
	if len(o.Config.Sources) == 0 {
		o.Log.Warn("no source is configured: no events will come; name one with --source file:PATH or [[source]]")
	}
}

// engine makes the engine by the configuration.
func (o Options) engine(st *store.Store, master *keyring.Master, policy *egress.Policy, send func(context.Context, *egress.Request) egress.Result) (*delivery.Engine, error) {
	d := o.Config.Delivery
	schedule, err := delivery.ParseSchedule(d.Retry)
	if err != nil {
		return nil, o.Config.Refuse("delivery.retry", err)
	}
	return delivery.New(delivery.Options{
		Store: st, Master: master, Policy: policy, Send: send,
		Defaults: delivery.Defaults{
			Schedule: schedule, Jitter: d.Jitter, Timeout: d.Timeout, RetryAfterCap: d.RetryAfterCap,
			MaxFailures: d.MaxConsecutiveFailures,
		},
		MaxInFlight: d.MaxInFlight, MaxInFlightPerHost: d.MaxInFlightPerHost,
		UserAgent: "hookd/" + control.Version, Log: o.Log,
	}), nil
}

func (o Options) stopEngine(ctx context.Context, engine *delivery.Engine) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.Config.Delivery.ShutdownTimeout)
	defer cancel()
	engine.Stop(ctx)
}

// sources makes what reads each source.
func (o Options) sources(st *store.Store) []*source {
	var list []*source
	for _, c := range o.Config.Sources {
		list = append(list, newSource(st, c, o.Config.Limits.EventBytes, o.Log))
	}
	return list
}

// startSources starts to read; the function it returns stops that and waits.
func startSources(ctx context.Context, sources []*source, failed chan<- error) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for _, s := range sources {
		running.Go(func() {
			if err := s.tail.Run(ctx); err != nil {
				failed <- fmt.Errorf("source %s: %w", s.name, err)
			}
		})
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// serve answers the control API, says that hookd is ready, and returns when ctx has ended or something failed.
func (o Options) serve(ctx context.Context, a *api, socket *controlSocket, failed <-chan error) (err error) {
	server := serve(a, socket)
	defer func() { err = errors.Join(err, server.stop(ctx)) }()
	if o.ReadyFile != "" {
		if err := writeReady(o.ReadyFile, control.ReadyFile{PID: os.Getpid(), Socket: a.socket, Sources: a.readySources()}); err != nil {
			return err
		}
		defer removeReady(o.ReadyFile, o.Log)
	}
	notify("READY=1", o.Log)
	defer notify("STOPPING=1", o.Log)
	o.Log.Info("ready", "socket", a.socket, "sources", a.places(), "data_dir", o.Config.DataDir,
		"config", o.Config.File, "version", control.Version)

	select {
	case <-ctx.Done():
		o.Log.Info("stopping", "cause", context.Cause(ctx).Error())
		return nil
	case err := <-failed:
		return err
	case err := <-server.ended:
		return fmt.Errorf("serve control socket: %w", err)
	}
}

// absolute makes the path of the socket mean the same to who reads it elsewhere, where the kernel would take that.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil && len(full) <= control.MaxSocketPath {
		return full
	}
	return path
}
