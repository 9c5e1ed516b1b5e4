# SPDX-License-Identifier: BSD-3-Clause
# Reads a guest's reports and detects its end; sourced by run.sh. It converts reports to TAP. If a guest does not
# finish, the TAP names the row and the cause, and has the last lines of the guest's console. Needs: report.

# is_locked_up SHARE: the kernel has said again and again in this row that a processor of its does not come back.
is_locked_up() {
	[ "$(tail -c "+$((row_from + 1))" "$1/console.log" | grep -ac 'BUG: soft lockup')" -ge 4 ]
}

# guest_watch SHARE COMMAND...: boots a guest by COMMAND and watches it until it has ended, or has reported nothing for
# SILENCE_S, or for a third of that with processors locked up, or has taken LIMIT_S in all, times what this machine is slower when
# that has passed; then it is killed. Sets
#   row, row_from  the row in progress, if any, and where its part of the console begins
#   heard          when the guest reported last
#   silence_s      and for how long it had not, when it was killed for that; taken_s what it had taken in all
#   fate           ended, silent, late or, if it came to its end, done
#   qemu           QEMU's status
guest_watch() {
	local share=$1 patience_s=$SILENCE_S start=$SECONDS pid line begun='' status reports
	shift
	row='' row_from=0 heard=$SECONDS fate=''
	exec {reports}< <(exec "$@" 2>"$share/qemu.log")
	pid=$!
	while :; do
		IFS= read -r -t $((patience_s < 30 ? patience_s : 30)) -u "$reports" line
		status=$?
		line=$begun$line begun=
		if [ $status -gt 128 ]; then
			begun=$line
			silence_s=$((SECONDS - heard))
			limit_passed "$heard" "$patience_s" ||
				{ ((3 * silence_s >= patience_s)) && is_locked_up "$share" && limit_passed "$heard" $((patience_s / 3)); } ||
				continue
			fate=${fate:-silent}
			break
		fi
		[ $status = 0 ] || break
		heard=$SECONDS
		guest_said "$share" "${line%$'\r'}"
		if [ "$fate" = done ]; then
			patience_s=60
		elif limit_passed "$start" "$LIMIT_S"; then
			fate=late taken_s=$((SECONDS - start))
			break
		fi
	done
	exec {reports}<&-
	# At the end of its output QEMU is about to end, with a status that tells how.
	[ $status = 1 ] || kill -KILL "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	qemu=$?
	fate=${fate:-ended}
}

# guest_said SHARE REPORT: see guest/lib.sh; SHARE/reports has them all. The names of rows that are over go to SHARE/over,
# of those in which something failed to SHARE/failed.
guest_said() {
	echo "$2" >>"$1/reports"
	case $2 in
	"row "*)
		row=${2#row } row_from=$(stat -c %s "$1/console.log")
		echo "# $row ..."
		;;
	"over "*)
		echo "${2#over }" >>"$1/over"
		[ "$row" != "${2#over }" ] || row=
		;;
	"# "*) echo "$2" ;;
	"ok "*) report ok "${2#ok }" ;;
	"not ok "*)
		report "not ok" "${2#not ok }"
		echo "$row" >>"$1/failed"
		;;
	"skip "*) report ok "${2#skip }" ;;
	done) fate=done ;;
	esac
}

# guest_fate: in words.
guest_fate() {
	case $fate in
	ended) echo "QEMU ended by itself with status $qemu" ;;
	silent) echo "it was killed after a silence of $silence_s s" ;;
	late) echo "it was killed after $taken_s s in all" ;;
	esac
}

# guest_obituary NAME SHARE: what is known of a guest that did not come to its end, in comments. Of the console is left out
# what a device without a speed says all the time, and where every task was.
guest_obituary() {
	echo "# $1: the guest did not come to its end: $(guest_fate), $((SECONDS - heard)) s after its last report"
	echo "# row in progress: ${row:-none}"
	echo "# the last lines of its console, $2/console.log:"
	sed '/speed is unknown/d; /sysrq: Show State/,/Showing busy workqueues/d' "$2/console.log" |
		tail -n 30 | tr -cd '\n\t -~' | sed 's/^/#   /'
	[ ! -s "$2/qemu.log" ] || tail -n 5 "$2/qemu.log" | sed 's/^/# QEMU: /'
}

# What a kernel says that goes wrong by itself, and of programs that it will not let go of: those that have a device open, and
# the threads of its server. Clients of a mount are none of these, since they wait for our proxy too. And what it says of a program
# that crashes.
KERNEL_FAULTS='Kernel panic|kernel BUG at|BUG: |Oops|general protection fault,|soft lockup|hard LOCKUP|detected (expedited )?stalls'
KERNEL_FAULTS+='|INFO: task (rpcrdma-proxy|worker[- ][0-9]+|fabric_pair|nfsd|rdma):[0-9]+ blocked|lab: a thread of knfsd does not end'
PROGRAM_FAULTS='\]: segfault at |traps: |Out of memory'

emulator() { qemu-system-x86_64 --version | sed -n '1s/.*version \([^ ]*\).*/QEMU \1/p'; }

# guest_blame SHARE: the cause of a lost guest, if it is not the tested program: its kernel, or the emulator, with the
# version. Fails if there is no sign of that, or a program crashed or took all memory in the row. The guest reports a row
# that does not end (row_stuck), so one without a report means that the guest hangs.
guest_blame() {
	local console fault
	[ "$fate" != late ] || return 1
	console=$(tail -c "+$((row_from + 1))" "$1/console.log" | tr -cd '\n -~')
	! grep -qE "$PROGRAM_FAULTS" <<<"$console" || return 1
	if fault=$(grep -m 1 -E "$KERNEL_FAULTS" <<<"$console"); then
		echo "Linux $(cat "$cache/kver"): $fault"
		return 0
	fi
	case $fate in
	ended) [ "$qemu" -gt 128 ] && echo "$(emulator): nothing on the console, and QEMU ended with status $qemu" ;;
	silent) [ -n "$row" ] && echo "Linux $(cat "$cache/kver") on $(emulator): nothing on the console, and nothing ran in the guest any more" ;;
	esac
}

# row_passed SHARE ROW: in that boot; where there is no row, that the guest came to its end.
row_passed() {
	if [ -n "$2" ]; then
		grep -qxF -e "$2" "$1/over" && ! grep -qxF -e "$2" "$1/failed"
	else
		[ "$fate" = done ]
	fi
}
