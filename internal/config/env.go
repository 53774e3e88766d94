package config

import (
	"maps"
	"slices"
	"strings"
)

// environment reads NAME=VALUE entries as os.Environ gives them. A variable
// that is set but empty counts as not set. The last entry of a name wins.
func environment(entries []string) map[string]string {
	env := map[string]string{}
	for _, entry := range entries {
		name, value, _ := strings.Cut(entry, "=")
		if value == "" {
			delete(env, name)
			continue
		}
		env[name] = value
	}
	return env
}

// envLayer is what HOOKD_ variables say, and what is wrong with them, by name.
func envLayer(env map[string]string, checks checks) (layer, []Mistake) {
	variables := map[string]key{}
	for _, k := range keys {
		variables[k.env()] = k
		if k.envToo != "" {
			variables[k.envToo] = k
		}
	}

	values := layer{}
	var mistakes []Mistake
	for _, name := range slices.Sorted(maps.Keys(env)) {
		k, known := variables[name]
		switch {
		case !strings.HasPrefix(name, "HOOKD_") || name == "HOOKD_CONFIG":
			continue
		case name == "HOOKD_SOURCE" || strings.HasPrefix(name, "HOOKD_SOURCE_"):
			mistakes = append(mistakes, Mistake{
				Place: name, Key: "source",
				Problem: "must be given in the file ([[source]]) or with --source, not by a variable",
			})
			continue
		case !known:
			mistakes = append(mistakes, Mistake{Place: name, Problem: "no key has this variable"})
			continue
		}
		value, problem := k.fromText(env[name])
		if problem == "" {
			problem = checks.run(k.name, value)
		}
		if problem != "" {
			mistakes = append(mistakes, Mistake{Place: name, Key: k.name, Problem: problem})
			continue
		}
		if _, set := values[k.name]; set && name != k.envToo {
			continue // the variable beside the systematic one wins, whichever comes first here
		}
		values[k.name] = given{value: value, place: name}
	}
	return values, mistakes
}
