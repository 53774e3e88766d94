// Package cli is hookctl: its commands, how they print, and what they exit with.
//
// It knows the terminal and the command line; of the daemon it knows only package control. A command is an options
// struct, a constructor that declares it, and a run method that works. What a command prints goes through one printer
// that knows every format; what goes wrong goes through one switch that turns an error into text and an exit code.
//
// It promises scripts that stdout has the result or nothing, never half of it, and that member names and exit codes
// stay. It must not print a secret other than in the answers that exist to show one, and must not ask where nobody
// can answer.
package cli
