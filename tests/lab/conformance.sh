# SPDX-License-Identifier: BSD-3-Clause
# The host's side of the rows of guest/conformance.sh, sourced by host.sh: tests/peer against what is in the guest, and
# what came of it against a list of what is known to differ. Needs: here, share.
#
# A list (conformance.*) has a line for each scenario that another implementation does not pass:
#
#	TAG ROLE SCENARIO | what it does | the function of it
#
# with the scenario as tests/peer/conformance --tap names it, or "*" for a client, of which each tag is judged as a whole.
# A "~" before it says that it is so now and then.

# conformance_begin NAME ARGUMENTS...: runs the program; its TAP goes to conformance/NAME.tap.
conformance_begin() {
	local name=$1
	shift
	mkdir -p "$share/conformance"
	(
		"$here/../peer/conformance" --tap "$@" >"$share/conformance/$name.tap" 2>"$share/conformance/$name.err" &
		echo $! >"$share/conformance/$name.pid"
		wait $!
		touch "$share/conformance/$name.over"
	) >/dev/null 2>&1 </dev/null 3>&- &
}

# conformance_end NAME: tells it to judge what it has seen.
conformance_end() {
	kill -INT "$(cat "$share/conformance/$1.pid")"
}

# conformance_verdict NAME LIST...: what differs and is not in the lists, and the other way round; then a line that counts.
conformance_verdict() {
	local name=$1 lists=()
	shift
	lists=("${@/#/$here/conformance.}")
	cat "$share/conformance/$name.err"
	awk -v lists="${lists[*]}" '
		function key(line) { return line ~ / RQ / ? substr(line, 1, index(line, " RQ ")) "RQ *" : line }
		BEGIN {
			for (n = split(lists, list, " "); n > 0; n--)
				while ((getline line < list[n]) > 0) {
					if (line ~ /^(#|$)/) continue
					sub(/ *\|.*/, "", line)
					known[substr(line, 1 + (line ~ /^~/))] = line ~ /^~/ ? "seldom" : "always"
				}
		}
		/^1\.\.[1-9]/ { planned = substr($0, 4) }
		/^(not )?ok [0-9]+ - / {
			count++
			bad = /^not /
			skipped = / # SKIP /
			line = $0
			sub(/^(not )?ok [0-9]+ - /, "", line)
			sub(/ # SKIP .*/, "", line)
			line = key(line)
			if (bad && !(line in known)) { print "differs, and is not in the list: " line; wrong++ }
			if (!bad && known[line] == "always") { print "in the list, and " (skipped ? "not seen" : "passes") ": " line; wrong++ }
			if (bad && line in known) differ++
			if (!bad && !skipped) passed++
			unseen += skipped
			delete known[line]
		}
		END {
			for (line in known) { print "in the list, and there is no such scenario: " line; wrong++ }
			if (!planned || planned != count) { print "the peer did not come to its end: " count + 0 " of " planned + 0; wrong++ }
			printf "%d pass, %d differ as listed, %d not seen\n", passed, differ, unseen
			exit wrong > 0
		}' "$share/conformance/$name.tap"
}
