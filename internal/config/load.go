package config

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/viper"
)

// Options is what the process knows before it is configured.
type Options struct {
	// File is the value of --config; empty: $HOOKD_CONFIG, else the places
	// where a file is looked for.
	File string
	// Env has entries NAME=VALUE, as os.Environ gives them.
	Env []string
	// UID is the effective user id; 0 has the system's default places.
	UID int
	// Flags has the flags that were given, by key ("data_dir"), also those
	// given with their default value. A flag that was not given is not in it.
	Flags map[string]string
	// Sources are the values of --source. Where there is one, the sources of
	// the file are not used, as with every other flag; they are still checked.
	Sources []string
	// Checks are rules that other rooms own, by key: each is called with every
	// value given for that key, for a list with each entry. Its error completes
	// "PLACE: KEY: ...".
	Checks map[string]func(text string) error
}

// given is a value from one layer, already parsed.
type given struct {
	value any
	place string
}

// layer is what one of flags, environment and file says, by key.
type layer map[string]given

type checks map[string]func(text string) error

// run gives the problem that another room finds with a parsed value.
func (c checks) run(key string, value any) string {
	check := c[key]
	if check == nil {
		return ""
	}
	var entries []string
	switch v := value.(type) {
	case string:
		entries = []string{v}
	case []string:
		entries = v
	}
	for _, entry := range entries {
		if err := check(entry); err != nil {
			return err.Error()
		}
	}
	return ""
}

// Load finds, reads and combines the settings: a flag beats the environment,
// which beats the file, which beats the default. Every value that is given is
// checked, also one that is beaten. The error is an [*Error] with every mistake.
func Load(o Options) (Config, error) { return load(o, systemFile) }

// load takes the system's file as an argument, so that a test has its own.
func load(o Options, system string) (Config, error) {
	env := environment(o.Env)
	path, data, err := openConfig(o.File, env, system)
	if err != nil {
		return Config{}, err
	}
	file := parseFile(path, data, o.Checks)
	fromEnv, envMistakes := envLayer(env, o.Checks)
	fromFlags, flagMistakes := flagLayer(o.Flags, o.Checks)
	sources, sourceMistakes := flagSources(o.Sources)

	mistakes := append(file.mistakes, envMistakes...)
	mistakes = append(mistakes, flagMistakes...)
	mistakes = append(mistakes, sourceMistakes...)
	if len(sources) == 0 {
		sources = file.sources
	}

	c, err := combine(file.given, fromEnv, fromFlags, sources)
	if err != nil {
		return Config{}, err
	}
	c.File = path
	if missing := c.derive(env, o.UID); missing != nil {
		mistakes = append(mistakes, *missing)
	}
	if len(mistakes) > 0 {
		return Config{}, &Error{Mistakes: mistakes}
	}
	return c, nil
}

func flagLayer(flags map[string]string, checks checks) (layer, []Mistake) {
	values := layer{}
	var mistakes []Mistake
	known := 0
	for _, k := range keys {
		text, set := flags[k.name]
		if !set {
			continue
		}
		known++
		value, problem := k.fromText(text)
		if problem == "" {
			problem = checks.run(k.name, value)
		}
		if problem != "" {
			mistakes = append(mistakes, Mistake{Place: k.flagPlace(), Key: k.name, Problem: problem})
			continue
		}
		values[k.name] = given{value: value, place: k.flagPlace()}
	}
	if known < len(flags) {
		for name := range flags {
			if _, ok := findKey(keys, name); !ok {
				mistakes = append(mistakes, Mistake{Place: "flag", Key: name, Problem: "no key has this name"})
			}
		}
	}
	return values, mistakes
}

func (k key) flagPlace() string {
	if k.flag == "" {
		return "flag"
	}
	return k.flag
}

func flagSources(texts []string) ([]placedSource, []Mistake) {
	const place = "--source"
	var sources []placedSource
	var mistakes []Mistake
	for _, text := range texts {
		s, err := ParseSource(text)
		if err != nil {
			mistakes = append(mistakes, Mistake{Place: place, Key: "source", Problem: err.Error(), cause: err})
			continue
		}
		sources = append(sources, placedSource{Source: s, place: "another " + place, pathPlace: place, namePlace: place})
	}
	return sources, append(mistakes, repeated(sources)...)
}

// combine lets viper put the layers on top of each other. It gets values that
// are parsed already, so that it converts nothing by rules of its own.
func combine(file, env, flags layer, sources []placedSource) (Config, error) {
	v := viper.New()
	for _, k := range keys {
		v.SetDefault(k.name, k.initialValue())
	}
	plain := make([]Source, len(sources))
	for i, s := range sources {
		plain[i] = s.Source
	}
	v.SetDefault("source", plain)

	places := keyPlaces{}
	for _, l := range []layer{file, env} {
		over := viper.New()
		for name, g := range l {
			over.Set(name, g.value)
			places[name] = g.place
		}
		if err := v.MergeConfigMap(over.AllSettings()); err != nil {
			return Config{}, fmt.Errorf("merge settings: %w", err)
		}
	}
	for name, g := range flags {
		v.Set(name, g.value)
		places[name] = g.place
	}

	var c Config
	if err := v.UnmarshalExact(&c); err != nil {
		return Config{}, fmt.Errorf("decode settings: %w", err)
	}
	c.keyPlaces = places
	return c, nil
}

// derive fills in defaults that depend on the process.
func (c *Config) derive(env map[string]string, uid int) *Mistake {
	if c.DataDir == "" {
		c.DataDir = defaultDataDir(env, uid)
	}
	if c.DataDir == "" {
		return &Mistake{
			Place: c.Place("data_dir"), Key: "data_dir",
			Problem: "must be given where neither XDG_STATE_HOME nor HOME is an absolute path",
		}
	}
	if c.Signing.MasterKeyFile != "" {
		return nil
	}
	c.Signing.MasterKeyFile = filepath.Join(c.DataDir, "master.key")
	if path, found := credential(env); found {
		c.Signing.MasterKeyFile, c.Signing.MasterKeyFromCredentials = path, true
	}
	return nil
}
