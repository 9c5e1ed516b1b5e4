# SPDX-License-Identifier: BSD-3-Clause
# The host's side of the rows of guest/conformance.sh, sourced by host.sh: runs tests/peer against the guest, and
# compares the results with a list of known differences. Needs: here, share.
#
# A list (conformance.*) has a line for each scenario that another implementation does not pass:
#
#	TAG ROLE SCENARIO | deviation | function that causes it | message of the peer
#
# SCENARIO is a name as in tests/peer/conformance --tap, or "*" for a client, which has one result per tag. "[6.1]"
# before the line limits it to that kernel. "~" before the line means that the deviation occurs only sometimes; only
# such a line has the fourth field. Another message of the peer for the same scenario is then not covered by the line.

# conformance_begin NAME ARGUMENTS...: starts the program; its TAP goes to conformance/NAME.tap.
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

# conformance_end NAME: ends the program, which then judges what it has seen.
conformance_end() {
	kill -INT "$(cat "$share/conformance/$1.pid")"
}

# conformance_verdict NAME LIST...: prints differences that are not in the lists, and entries of the lists that did not
# occur; then lines with "this time: " for deviations that occur only sometimes; then a line with the counts.
conformance_verdict() {
	local name=$1 lists=()
	shift
	lists=("${@/#/$here/conformance.}")
	cat "$share/conformance/$name.err"
	awk -v lists="${lists[*]}" -v series="$series" '
		function key(line) { return line ~ / RQ / ? substr(line, 1, index(line, " RQ ")) "RQ *" : line }
		function told() {
			if (waits != "") { print "differs, and not as the list says: " waits; wrong++ }
			waits = ""
		}
		BEGIN {
			for (n = split(lists, list, " "); n > 0; n--)
				while ((getline line < list[n]) > 0) {
					if (line ~ /^(#|$)/) continue
					if (line ~ /^\[/) {
						if (index(line, "[" series "]") != 1) continue
						sub(/^\[[^]]*\] */, "", line)
					}
					split(line, part, / *\| */)
					line = part[1]
					sub(/^~/, "", line)
					known[line] = part[1] ~ /^~/ ? "seldom" : "always"
					does[line] = part[2] " (" part[3] ")"
					says[line] = part[4]
				}
		}
		/^1\.\.[1-9]/ { planned = substr($0, 4) }
		/^# / && waits != "" && says[waits] != "" && index($0, says[waits]) {
			print "this time: " waits ": " does[waits]
			waits = ""
		}
		/^(not )?ok [0-9]+ - / {
			told()
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
			if (bad && known[line] == "seldom") waits = line
			if (!bad && !skipped) passed++
			unseen += skipped
			delete known[line]
		}
		END {
			told()
			for (line in known) { print "in the list, and there is no such scenario: " line; wrong++ }
			if (!planned || planned != count) { print "the peer did not come to its end: " count + 0 " of " planned + 0; wrong++ }
			printf "%d pass, %d differ as listed, %d not seen\n", passed, differ, unseen
			exit wrong > 0
		}' "$share/conformance/$name.tap"
}
