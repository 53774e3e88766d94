package config

import (
	"io/fs"
	"log/slog"
	"time"
)

// Config is every setting in force. Its values are within the bounds of the
// table of keys; slices belong to the caller.
type Config struct {
	// DataDir holds the database and, by default, the master key.
	DataDir   string    `mapstructure:"data_dir"`
	Control   Control   `mapstructure:"control"`
	Sources   []Source  `mapstructure:"source"`
	Delivery  Delivery  `mapstructure:"delivery"`
	Egress    Egress    `mapstructure:"egress"`
	Signing   Signing   `mapstructure:"signing"`
	Limits    Limits    `mapstructure:"limits"`
	Log       Log       `mapstructure:"log"`
	File      string    `mapstructure:"-"` // the file that was read; empty where there was none
	keyPlaces keyPlaces `mapstructure:"-"`
}

// keyPlaces tells where the value in force of a key was given; a key that is
// missing has its default.
type keyPlaces map[string]string

// Control is the socket that hookctl talks to.
type Control struct {
	// Socket is the path that was set, at most [MaxSocketPath] bytes. Empty
	// means the place that hookd and hookctl derive by one rule without
	// configuration.
	Socket string `mapstructure:"socket"`
	// SocketMode is the mode of the socket file.
	SocketMode fs.FileMode `mapstructure:"socket_mode"`
	// SocketGroup is a group's name or number; empty leaves the group alone.
	SocketGroup string `mapstructure:"socket_group"`
}

// Delivery is how attempts are made, repeated and bounded.
type Delivery struct {
	Retry                  string        `mapstructure:"retry"`  // text of the retry policy
	Jitter                 float64       `mapstructure:"jitter"` // 0 to 1, the part a delay may grow by
	Timeout                time.Duration `mapstructure:"timeout"`
	RetryAfterCap          time.Duration `mapstructure:"retry_after_cap"`
	MaxInFlight            int           `mapstructure:"max_in_flight"`
	MaxInFlightPerHost     int           `mapstructure:"max_in_flight_per_host"`
	MaxConsecutiveFailures int           `mapstructure:"max_consecutive_failures"` // 0: never switch off
	ShutdownTimeout        time.Duration `mapstructure:"shutdown_timeout"`
}

// Egress is where hookd may connect to. The entries are as written; the room
// that guards connections reads them.
type Egress struct {
	AllowHTTP    bool     `mapstructure:"allow_http"`
	AllowedHosts []string `mapstructure:"allowed_hosts"`
	AllowPrivate []string `mapstructure:"allow_private"`
	CAFile       string   `mapstructure:"ca_file"` // PEM; empty: the system's roots alone
}

// Signing is about secrets and the key that protects them.
type Signing struct {
	// Overlap is how long a rotated secret still signs.
	Overlap time.Duration `mapstructure:"overlap"`
	// MasterKeyFile is never empty after [Load].
	MasterKeyFile string `mapstructure:"master_key_file"`
	// MasterKeyFromCredentials is true where MasterKeyFile was found in
	// systemd's $CREDENTIALS_DIRECTORY, whose file modes say nothing.
	MasterKeyFromCredentials bool `mapstructure:"-"`
}

// Limits are bounds on what is taken in.
type Limits struct {
	EventBytes int `mapstructure:"event_bytes"` // a line, and an envelope made of it
}

// Log is how hookd writes its own log.
type Log struct {
	Level  slog.Level `mapstructure:"level"`
	Format string     `mapstructure:"format"` // FormatText or FormatJSON
}

// Values of log.format.
const (
	FormatText = "text"
	FormatJSON = "json"
)

// Place tells where the value of a key was given: "FILE:LINE", the name of an
// environment variable, a flag, or "default".
func (c Config) Place(key string) string {
	if place, ok := c.keyPlaces[key]; ok {
		return place
	}
	return "default"
}

// Refuse makes the error for a value that turned out wrong only after loading
// (a folder that cannot be made, a file that does not parse). It reads like the
// errors of [Load]: place, key, problem.
func (c Config) Refuse(key string, problem error) error {
	return &Error{Mistakes: []Mistake{{Place: c.Place(key), Key: key, Problem: problem.Error(), cause: problem}}}
}
