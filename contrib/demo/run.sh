#!/usr/bin/env bash
# The main job of hookd from end to end, in under a minute: an event log grows, two receivers get their events signed
# and in order, one of them fails twice, the other for so long that a delivery becomes a dead letter, which is replayed.
#
# Usage: contrib/demo/run.sh   (after "make build"; needs bash and GNU coreutils, and no network but loopback)
#
# It keeps everything in a temporary directory, which is removed at the end, and ends what it started.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$(cd "$here/../.." && pwd)/bin:$PATH
sample=$here/events.ndjson

place=$(mktemp -d "${TMPDIR:-/tmp}/hookd-demo.XXXXXX")
cleanup() {
	local pid
	for pid in $(jobs -pr); do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	rm -rf "$place"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

title() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
[ -t 1 ] && [ -z "${NO_COLOR:-}" ] || title() { printf '\n== %s\n' "$*"; }

fail() {
	printf '\ndemo: %s\n' "$*" >&2
	printf '\nhookd said:\n' >&2
	tail -n 20 "$place/hookd.log" >&2 || :
	exit 1
}

# typed shows a command as one would type it.
typed() {
	local word
	printf '$'
	for word; do
		case $word in
		*'*'*) printf " '%s'" "$word" ;;
		*) printf ' %s' "$word" ;;
		esac
	done
	printf '\n'
}

# run shows a command and runs it.
run() {
	typed "$@"
	"$@" || fail "$1 $2 ended with exit code $?"
}

# await FILE PID TEXT waits until the process has written a line with the text into the file.
await() {
	local follow found=0
	[ -p "$place/said" ] || mkfifo "$place/said"
	: >>"$1" # the process may not have made it yet
	tail -n +1 -f --pid="$2" "$1" >"$place/said" 2>/dev/null &
	follow=$!
	timeout 20 grep -q -m 1 -- "$3" <"$place/said" || found=$?
	kill "$follow" 2>/dev/null || :
	wait "$follow" 2>/dev/null || :
	[ "$found" -eq 0 ] || fail "it did not say \"$3\": $(cat "$1")"
}

# What a listener prints of each delivery.
line='def width($n): (. + " " * $n)[:$n];
"   \(.webhook_id)  \(.type | width(20))attempt \(.attempt)   \(
if .verified then "signature verified" else .problem end)   answered \(.status)\(
if .headers["hookd-replay"] then "   (replay)" else "" end)"'

# subscribe NAME FLAGS...: a receiver that ends with 0 when it got 14 deliveries that verify, and with 7 at one that does
# not.
subscribe() {
	local name=$1
	shift
	typed hookctl listen --sub "$name" "$@"
	hookctl listen --sub "$name" --count 14 --within 50s --jq "$line" "$@" >"$place/$name.out" 2>"$place/$name.err" &
	listener=$!
	await "$place/$name.err" "$listener" "listening on"
}

# arrived NAME shows what a receiver got since it was last asked.
arrived() {
	local shown=$place/$1.shown
	: >>"$shown"
	tail -n "+$(($(wc -l <"$shown") + 1))" "$place/$1.out" | tee -a "$shown"
}

began=$SECONDS
export HOOKD_SOCKET=$place/hookd.sock

title "hookd starts with an empty directory and follows a log file"
cat >"$place/hookd.toml" <<'TOML'
[delivery]
retry = "tiers:0s,300ms,600ms"
TOML
typed cat hookd.toml
cat "$place/hookd.toml"
touch "$place/app.ndjson"
typed hookd run --dev --config hookd.toml --source file:app.ndjson
hookd run --dev --config "$place/hookd.toml" --data-dir "$place/data" --source "file:$place/app.ndjson" \
	2>"$place/hookd.log" &
hookd=$!
await "$place/hookd.log" "$hookd" "msg=ready"

title "Two local receivers subscribe; crm will fail twice, billing three times"
subscribe crm --type 'user.*' --type 'order.*' --fail 2
crm=$listener
subscribe billing --type 'order.*' --type 'invoice.*' --fail 3
billing=$listener

title "An application appends 19 events to its log"
typed head -n 19 events.ndjson '>>' app.ndjson
head -n 19 "$sample" >>"$place/app.ndjson"
run hookctl wait --idle --timeout 30s

title "What crm got: the first event was tried until it was taken, and the others waited for it"
arrived crm

title "What billing got: all three tiers failed, then the next events went on"
arrived billing

title "The event that was given up is a dead letter"
run hookctl dlq list -o table
letter=$(hookctl dlq list -o json --jq '.[].id')
event=$(hookctl dlq list -o json --jq '.[].event_id')

title "The receiver is mended: the dead letter is replayed under the same id"
run hookctl dlq replay "$letter" -o table
run hookctl wait --sub billing --delivered "$event" --timeout 30s
arrived billing
run hookctl dlq list -o table

title "The log grows on"
typed tail -n 1 events.ndjson '>>' app.ndjson
tail -n 1 "$sample" >>"$place/app.ndjson"
wait "$crm" || fail "the receiver crm ended with exit code $?: $(cat "$place/crm.err")"
wait "$billing" || fail "the receiver billing ended with exit code $?: $(cat "$place/billing.err")"
printf 'crm got\n'
arrived crm
printf 'billing got\n'
arrived billing

title "hookd stops"
kill "$hookd"
wait "$hookd" || fail "hookd ended with exit code $?"

title "Summary"
# ids REGEXP prints the ids of the sample's events whose type begins so.
ids() { grep -E "\"type\":\"($1)\." "$sample" | grep -o 'evt-[0-9]*'; }
# taken NAME prints the ids of the events that a receiver took, in their order, without the replay.
taken() { grep 'answered 204' "$place/$1.out" | grep -v '(replay)' | grep -o 'evt-[0-9]*'; }
# count TEXT counts the lines of both receivers that have it.
count() { cat "$place"/*.out | grep -c -- "$1"; }

[ "$(taken crm)" = "$(ids 'user|order')" ] || fail "crm got other events, or in another order"
[ "$(taken billing)" = "$(ids 'order|invoice' | grep -v -x "$event")" ] || fail "billing got other events, or in another order"
printf '%s\n' \
	"$(wc -l <"$sample") events in the log, $(ids 'user|order' | wc -l) of them for crm, $(ids 'order|invoice' | wc -l) for billing" \
	"$(count '') requests, $(count 'signature verified') signatures verified, $(count 'answered 500') attempts failed" \
	"$(count 'answered 204') deliveries, each receiver's in order, $(count '(replay)') of them a replayed dead letter" \
	"done in $((SECONDS - began)) s"
