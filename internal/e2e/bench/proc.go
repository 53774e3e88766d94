package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// residentMiB is the memory of a process that is in RAM.
func residentMiB(pid int) (float64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, fmt.Errorf("read memory: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			if err != nil {
				return 0, fmt.Errorf("read memory: %w", err)
			}
			return kib / 1024, nil
		}
	}
	return 0, errors.New("read memory: the system does not tell it")
}

// clockTick is the unit of times in /proc/PID/stat: Linux says 100 a second on every architecture that Go knows.
const clockTick = 10 * time.Millisecond

// cpuTime is what a process has used so far on all cores, in user and in system mode.
func cpuTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, fmt.Errorf("read processor time: %w", err)
	}
	// The name of the program, in parentheses, may hold anything. The fields after it begin with the third.
	_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, errors.New("read processor time: the system does not tell it")
	}
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read processor time: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}
