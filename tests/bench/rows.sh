# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# What is measured: the rows, by series, and who is in each. A series is a setting in which its rows are measured:
#
#	lo        one worker, on loopback
#	workers2  the same with two workers, and two threads of HAProxy
#	mtu1500   over a wire between two network namespaces, whose packets have 1,500 bytes at most
#	mtu9000   the same with 9,000
#	idle      memory and wake-ups of connections that do nothing, of processes that are new each time
#
# A row: SERIES NAME WAY WORK INFLIGHT CONNECTIONS GROUP. Its way is how it is measured: a function of sampling.sh.

row_table() {
	cat <<-END
	lo getattr-x1     closed  getattr       1   1    all
	lo getattr-x16    closed  getattr       16  1    all
	lo getattr-x128   closed  getattr       128 1    all
	lo getattr-c100   closed  getattr       1   100  all
	lo getattr-c1000  closed  getattr       1   1000 unforked
	lo read-4k-x1     closed  read:4096     1   1    all
	lo read-4k-x16    closed  read:4096     16  1    variants
	lo read-4k-x128   closed  read:4096     128 1    all
	lo write-4k-x1    closed  write:4096    1   1    all
	lo write-4k-x16   closed  write:4096    16  1    variants
	lo write-4k-x128  closed  write:4096    128 1    all
	lo read-64k-x1    closed  read:65536    1   1    all
	lo read-64k-x8    closed  read:65536    8   1    variants
	lo write-64k-x1   closed  write:65536   1   1    all
	lo write-64k-x8   closed  write:65536   8   1    variants
	lo read-1m-x1     closed  read:1048576  1   1    all
	lo read-1m-x4     closed  read:1048576  4   1    variants
	lo write-1m-x1    closed  write:1048576 1   1    all
	lo write-1m-x4    closed  write:1048576 4   1    variants
	lo getattr-open   open    getattr       16  1    all
	lo mixed          mixed   getattr       1   1    all
	lo fair           closed  read:1048576  4   8    all
	lo connect        closed  connect       32  1    unforked
	lo crowd          closed  crowd         1   1000 unforked
	workers2 getattr-c100  closed  getattr       1  100 few
	workers2 read-64k-c8   closed  read:65536    8  8   few
	workers2 read-1m-c4    closed  read:1048576  4  4   few
	workers2 write-1m-c4   closed  write:1048576 4  4   few
	workers2 mixed         mixed   getattr       1  100 few
	mtu1500 getattr-x1   closed  getattr       1  1 far
	mtu1500 getattr-x16  closed  getattr       16 1 far
	mtu1500 read-64k-x8  closed  read:65536    8  1 far
	mtu1500 write-64k-x8 closed  write:65536   8  1 far
	mtu1500 read-1m-x4   closed  read:1048576  4  1 far
	mtu1500 write-1m-x4  closed  write:1048576 4  1 far
	mtu9000 getattr-x1   closed  getattr       1  1 far
	mtu9000 getattr-x16  closed  getattr       16 1 far
	mtu9000 read-64k-x8  closed  read:65536    8  1 far
	mtu9000 write-64k-x8 closed  write:65536   8  1 far
	mtu9000 read-1m-x4   closed  read:1048576  4  1 far
	mtu9000 write-1m-x4  closed  write:1048576 4  1 far
	idle idle-c1000  idle  idle 1 1000 idle
	idle idle-c9500  idle  idle 1 9500 idle
	END
}

# Those of one hop, then those of two, so that who is compared is measured soon after. Connections of socat are processes,
# so it is left out where these are many.
group() {
	case $1 in
	all) echo direct socat haproxy copy tcp haproxy2 copy2 chain ;;
	variants) echo direct socat haproxy haproxy-splice copy tcp haproxy2 copy2 chain chain-nocrc chain-64k chain-mss chain-v2 ;;
	unforked) echo direct haproxy copy tcp haproxy2 copy2 chain ;;
	few) echo haproxy tcp haproxy2 chain ;;
	far) echo direct haproxy2 copy2 chain chain-nocrc chain-64k chain-mss ;;
	idle) echo haproxy tcp haproxy2 chain ;;
	esac
	[ -z "$beside" ] || echo tcp-beside chain-beside
}

quick_rows='^lo/(getattr-x1|getattr-x16|read-64k-x8|write-64k-x8|read-1m-x4|write-1m-x4)$'
quick_contenders='haproxy|haproxy2|copy2|tcp|chain|.*-beside'

# wanted_contenders GROUP
wanted_contenders() {
	group "$1" | tr ' ' '\n' | grep -xE "$contenders_wanted" |
		if [ -n "$quick" ]; then grep -xE "$quick_contenders"; else cat; fi
}

# wanted_rows SERIES: their lines of the table, those that have contenders
wanted_rows() {
	local series name rest

	while read -r series name rest; do
		[ "$series" = "$1" ] && [[ $series/$name =~ $rows_wanted ]] || continue
		[ -z "$quick" ] || [[ $series/$name =~ $quick_rows ]] || continue
		[ -z "$(wanted_contenders "${rest##* }")" ] || echo "$series $name $rest"
	done < <(row_table)
}

list_rows() {
	local series row name way work inflight connections group

	for series in lo workers2 mtu1500 mtu9000 idle; do
		while read -r row name way work inflight connections group; do
			echo "$row/$name $work x$inflight c$connections $way:" $(wanted_contenders "$group")
		done < <(wanted_rows $series)
	done
}

# ---------------------------------------------------------------- series

# contenders_of ROWS...: each once
contenders_of() {
	local row

	for row; do wanted_contenders "${row##* }"; done | awk '!seen[$0]++'
}

# measure_rows ROWS...: A B C, and then C B A
measure_rows() {
	local round row series name way work inflight connections group contender order

	for ((round = 1; round <= rounds; round++)); do
		for row; do
			read -r series name way work inflight connections group <<<"$row"
			order=cat
			((round % 2)) || order=tac
			for contender in $(wanted_contenders "$group" | $order); do
				"way_$way" "$series" "$name" "$contender" $round "$work" "$inflight" "$connections"
			done
		done
	done
}

# measure_beside ROWS...: all contenders stand beside one another; only one of them has something to do
measure_beside() {
	local contender

	serve
	for contender in $(contenders_of "$@"); do start_contender "$contender"; done
	measure_rows "$@"
	for contender in $(contenders_of "$@"); do stop_contender "$contender"; done
	stop_serving
}

series_lo() { measure_beside "$@"; }
series_workers2() { local WORKERS=2; measure_beside "$@"; }

series_idle() {
	serve
	measure_rows "$@"
	stop_serving
}

far_is_up() { on far ip -br link show lo | grep -q LOWER_UP; }
wire_is_up() { on far ip -br link show wire | grep -q ' UP '; }

# series_wire MTU ROWS...: the far side is a network of its own
series_wire() {
	local mtu=$1 FAR=192.0.2.2

	shift
	unshare -n bash -c 'ip link set lo up && exec tail -f /dev/null' >>"$T/far.log" 2>&1 </dev/null &
	pid_of[far]=$!
	way_to[far]="nsenter -t ${pid_of[far]} -n --"
	wait_for 10 far_is_up || die "the far side does not start"
	ip link add wire mtu "$mtu" type veth peer name wire mtu "$mtu" netns "${pid_of[far]}" &&
		ip address add 192.0.2.1/24 dev wire && ip link set wire up &&
		on far ip address add $FAR/24 dev wire && on far ip link set wire up &&
		wait_for 10 wire_is_up || die "there is no wire to the far side"
	tune far
	measure_beside "$@"
	stop far KILL
	ip link delete wire
	way_to[far]=
}

series_mtu1500() { series_wire 1500 "$@"; }
series_mtu9000() { series_wire 9000 "$@"; }
