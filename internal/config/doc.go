// Package config knows hookd's settings: their names, defaults, bounds and
// meaning, and how a flag, the environment, a file and a default combine into
// one value each.
//
// One table (keys.go) is the only description of a setting. The defaults, the
// names of the environment variables, the checks and the commented hookd.toml
// that `hookd init` writes all come from it, so that they cannot drift apart.
//
// It promises that a [Config] it returns holds every bound of the table, and
// that every mistake it finds is reported at once, each with its place (file
// and line, environment variable or flag), its key and the rule it breaks.
//
// It reads the configuration file and nothing else; it creates nothing, opens
// no socket and imports no other room of hookd. Rules that other rooms own (the
// text of a retry policy, an egress entry) come in as functions, see
// [Options.Checks].
package config
