# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Time limits of scripts, adapted to the speed of the machine: see tests/lib/time_limit.h. TIME_LIMIT is the program
# tests/lib/time_limit of the build, by default the one in $builddir. Without that program limits are plain seconds.
: "${TIME_LIMIT:=${builddir:-.}/tests/lib/time_limit}"

# pause SECONDS: a script can define its own before it sources this file. This one reads from a descriptor without a
# writer. It is opened here, because that sets $!.
if ! declare -F pause >/dev/null; then
	exec {pause_fd}<> <(:)
	pause() { read -r -t "$1" -u "$pause_fd" || true; }
fi

# limit_s SECONDS [DECIMALS]: prints the limit on this machine for SECONDS on an idle one; in whole seconds, or with
# decimals
limit_s() {
	local factor

	factor=$("$TIME_LIMIT" --factor 2>/dev/null) || factor=1
	awk -v seconds="$1" -v factor="$factor" -v decimals="${2:-0}" 'BEGIN { printf "%.*f\n", decimals, seconds * factor }'
}

# limit_passed BEGIN SECONDS: Succeeds if more than SECONDS, scaled, have passed since BEGIN (a value of $SECONDS).
limit_passed() {
	((SECONDS - $1 > $2)) && ((SECONDS - $1 > $(limit_s "$2")))
}

# wait_for SECONDS COMMAND...: waits until the command succeeds. Fails when the limit has passed. Polls every LOOK_S, 0.02 s
# by default, and after two seconds every LOOK_LATE_S, 0.1 s by default. SECONDS is a whole number; another one is refused with status 2.
wait_for() { wait_while "$1" : "${@:2}"; }

# wait_while SECONDS PROGRESS COMMAND...: as wait_for, but the limit restarts whenever PROGRESS, a command in one word, prints
# something else. It measures the machine when the limit has passed, not at each poll. Its own variables have a prefix,
# because both commands see them and must see those of their caller.
wait_while() {
	local wait_begin=$SECONDS wait_limit=$1 wait_progress=$2 wait_now='' wait_before='' wait_end_s=$1 wait_look_s=${LOOK_S:-0.02}

	[[ $wait_limit =~ ^[0-9]+$ ]] || { echo "time_limit.sh: no whole number of seconds: $wait_limit" >&2; return 2; }
	shift 2
	until "$@" >/dev/null 2>&1; do
		[ "$wait_progress" = : ] || wait_now=$(eval "$wait_progress" 2>/dev/null)
		[ "$wait_now" = "$wait_before" ] || wait_begin=$SECONDS
		wait_before=$wait_now
		if ((SECONDS - wait_begin > wait_end_s)); then
			wait_end_s=$(limit_s "$wait_limit")
			((SECONDS - wait_begin <= wait_end_s)) || return 1
		fi
		# After two seconds poll less often: a poll costs more than the wait.
		((SECONDS - wait_begin < 2)) || wait_look_s=${LOOK_LATE_S:-0.1}
		pause "$wait_look_s"
	done
}

# with_limit [-o] SECONDS COMMAND...: runs a program, and kills it when the limit has passed, with status 124. With -o the
# limit restarts with each output.
with_limit() {
	if [ -x "$TIME_LIMIT" ]; then
		"$TIME_LIMIT" "$@"
	else
		[ "$1" != -o ] || shift
		timeout -k 10 "$@"
	fi
}
