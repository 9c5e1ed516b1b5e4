# SPDX-License-Identifier: BSD-3-Clause
# Reads a guest's reports and detects its end; sourced by run.sh. It converts reports to TAP. If a guest does not
# finish, the TAP names the row and the cause, and has the last lines of the guest's console. Needs: report.

# is_locked_up SHARE: the kernel has reported several times in this row that a processor is locked up.
is_locked_up() {
	[ "$(tail -c "+$((row_from + 1))" "$1/console.log" | grep -ac 'BUG: soft lockup')" -ge 4 ]
}

# guest_watch SHARE COMMAND...: boots a guest by COMMAND, and watches it until it ends. Kills it if it reports nothing
# for SILENCE_S (a third of that with locked-up processors), or takes longer than LIMIT_S. Both limits are extended on a
# slow machine. Sets
#   row, row_from  the row in progress, and where its part of the console begins
#   heard          the time of the last report
#   silence_s      the length of the silence, if that is why the guest was killed; taken_s is the total time
#   fate           ended, silent, late or, if the guest completed, done
#   qemu           QEMU's exit status
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
	# QEMU closes its output shortly before it ends; its status gives the cause.
	[ $status = 1 ] || kill -KILL "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	qemu=$?
	fate=${fate:-ended}
}

# guest_said SHARE REPORT: handles a report (guest/lib.sh). SHARE/reports has all reports, SHARE/over the names of
# finished rows, SHARE/failed those of rows with a failure.
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

# guest_fate: prints the fate in words.
guest_fate() {
	case $fate in
	ended) echo "QEMU ended by itself with status $qemu" ;;
	silent) echo "it was killed after a silence of $silence_s s" ;;
	late) echo "it was killed after $taken_s s in all" ;;
	esac
}

# guest_obituary NAME SHARE: prints what is known about a lost guest, as comments. Omits from the console the frequent
# messages of a device without a speed, and the list of tasks.
guest_obituary() {
	echo "# $1: the guest did not come to its end: $(guest_fate), $((SECONDS - heard)) s after its last report"
	echo "# row in progress: ${row:-none}"
	echo "# the last lines of its console, $2/console.log:"
	sed '/speed is unknown/d; /sysrq: Show State/,/Showing busy workqueues/d' "$2/console.log" |
		tail -n 30 | tr -cd '\n\t -~' | sed 's/^/#   /'
	[ ! -s "$2/qemu.log" ] || tail -n 5 "$2/qemu.log" | sed 's/^/# QEMU: /'
}

# Messages of the kernel about its own faults, and about hanging programs that have a device open or are threads of its
# server. Hanging clients of a mount are not included, because they may wait for our proxy. PROGRAM_FAULTS are messages
# about crashed programs.
KERNEL_FAULTS='Kernel panic|kernel BUG at|BUG: |Oops|general protection fault,|soft lockup|hard LOCKUP|detected (expedited )?stalls'
KERNEL_FAULTS+='|INFO: task (rpcrdma-proxy|worker[- ][0-9]+|fabric_pair|nfsd|rdma):[0-9]+ blocked|lab: a thread of knfsd does not end'
PROGRAM_FAULTS='\]: segfault at |traps: |Out of memory'

emulator() { qemu-system-x86_64 --version | sed -n '1s/.*version \([^ ]*\).*/QEMU \1/p'; }

# guest_blame SHARE: prints the cause of a lost guest if it is the kernel or the emulator, with its version. Fails if
# there is no sign of that, or if a program crashed or took all memory in the row. A guest that still runs reports a row
# that hangs (row_stuck); so silence means that the guest itself hangs.
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

# row_passed SHARE ROW: the row passed in that boot; without a row: the guest completed.
row_passed() {
	if [ -n "$2" ]; then
		grep -qxF -e "$2" "$1/over" && ! grep -qxF -e "$2" "$1/failed"
	else
		[ "$fate" = done ]
	fi
}
