package main

import (
	"github.com/spf13/cobra"
)

// keyFlag is a flag that sets a key of the configuration.
type keyFlag struct{ key, name, usage string }

var keyFlagTable = []keyFlag{
	{"data_dir", "data-dir", "where the database and the master key live"},
	{"control.socket", "socket", "the socket that hookctl talks to"},
	{"log.level", "log-level", "debug, info, warn or error"},
	{"log.format", "log-format", "text or json"},
}

// keyFlags adds the flags of these keys.
func keyFlags(cmd *cobra.Command, keys ...string) {
	for _, f := range keyFlagTable {
		for _, key := range keys {
			if f.key == key {
				cmd.Flags().String(f.name, "", f.usage+" (key "+key+")")
			}
		}
	}
}

// given returns the flags that were given, by their keys; what an empty value means is for the configuration to say.
func given(cmd *cobra.Command) map[string]string {
	set := map[string]string{}
	for _, f := range keyFlagTable {
		if flag := cmd.Flags().Lookup(f.name); flag != nil && flag.Changed {
			set[f.key] = flag.Value.String()
		}
	}
	return set
}
