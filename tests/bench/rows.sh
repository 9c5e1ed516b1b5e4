# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The rows of the benchmark, by series, and the contenders of each.

# A series is a setting for its rows. series_NAME measures it. NAME TITLE
series_table() {
	cat <<-END
	lo        loopback
	workers2  two workers
	pinned    proxies on one core
	spinning  cores that never sleep
	mtu1500   MTU 1500
	mtu9000   MTU 9000
	idle      idle
	peak      memory at its most
	END
}

# SERIES NAME WAY WORK INFLIGHT CONNECTIONS GROUP PICTURES # TITLE. way_WAY measures the row (sampling.sh). PICTURES of
# the page: rate, latency, cpu, or "-" for none. Without a TITLE, the title is the work and the numbers.
row_table() {
	local series mtu

	cat <<-END
	lo getattr-x1     closed  getattr       1   1    all      rate,latency,cpu
	lo getattr-x16    closed  getattr       16  1    all      rate,latency,cpu
	lo getattr-x128   closed  getattr       128 1    all      rate
	lo getattr-c100   closed  getattr       1   100  all      rate
	lo getattr-c1000  closed  getattr       1   1000 unforked rate,latency,cpu
	lo read-4k-x1     closed  read:4096     1   1    all      -
	lo read-4k-x16    closed  read:4096     16  1    variants rate,cpu
	lo read-4k-x128   closed  read:4096     128 1    all      -
	lo read-4k-c1000  closed  read:4096     1   1000 unforked -
	lo write-4k-x1    closed  write:4096    1   1    all      -
	lo write-4k-x16   closed  write:4096    16  1    variants rate,cpu
	lo write-4k-x128  closed  write:4096    128 1    all      -
	lo write-4k-c1000 closed  write:4096    1   1000 unforked -
	lo read-64k-x1    closed  read:65536    1   1    all      -
	lo read-64k-x8    closed  read:65536    8   1    variants rate,cpu
	lo read-64k-x16   closed  read:65536    16  1    all      -
	lo read-64k-x128  closed  read:65536    128 1    all      -
	lo read-64k-c1000 closed  read:65536    1   1000 unforked -
	lo write-64k-x1   closed  write:65536   1   1    all      -
	lo write-64k-x8   closed  write:65536   8   1    variants rate,cpu
	lo write-64k-x16  closed  write:65536   16  1    all      -
	lo write-64k-x128 closed  write:65536   128 1    all      -
	lo write-64k-c1000 closed write:65536   1   1000 unforked -
	lo read-1m-x1     closed  read:1048576  1   1    all      rate
	lo read-1m-x4     closed  read:1048576  4   1    variants rate,cpu
	lo write-1m-x1    closed  write:1048576 1   1    all      rate
	lo write-1m-x4    closed  write:1048576 4   1    variants rate,cpu
	lo getattr-open   open    getattr       16  1    all      latency      # GETATTR at random, same rate
	lo mixed          mixed   getattr       1   1    all      latency      # GETATTR beside bulk READs
	lo fair           closed  read:1048576  4   8    all      -            # READ 1 MiB ×4, 8 clients
	lo connect        closed  connect       32  1    unforked rate,cpu     # connections, 32 at once
	lo crowd          closed  crowd         1   1000 unforked latency,cpu  # 1,000 clients at once
	lo crowd-held     held    crowd         1   1000 ports    latency      # 1,000 clients beside 400
	workers2 getattr-c100  closed  getattr       1  100 few rate
	workers2 read-64k-c8   closed  read:65536    8  8   few rate
	workers2 read-1m-c4    closed  read:1048576  4  4   few rate
	workers2 write-1m-c4   closed  write:1048576 4  4   few rate
	workers2 mixed         mixed   getattr       1  100 few -       # 100 × GETATTR beside bulk READs
	END
	for series in pinned spinning; do
		cat <<-END
		$series getattr-x1   closed  getattr       1  1 ends rate,latency
		$series getattr-x16  closed  getattr       16 1 ends rate
		$series read-64k-x8  closed  read:65536    8  1 ends rate
		$series write-64k-x8 closed  write:65536   8  1 ends rate
		$series read-1m-x4   closed  read:1048576  4  1 ends rate
		$series write-1m-x4  closed  write:1048576 4  1 ends rate
		END
	done
	for mtu in 1500 9000; do
		cat <<-END
		mtu$mtu getattr-x1   closed  getattr       1  1 far rate
		mtu$mtu getattr-x16  closed  getattr       16 1 far rate
		mtu$mtu read-64k-x8  closed  read:65536    8  1 far rate
		mtu$mtu write-64k-x8 closed  write:65536   8  1 far rate
		mtu$mtu read-1m-x4   closed  read:1048576  4  1 far rate
		mtu$mtu write-1m-x4  closed  write:1048576 4  1 far rate
		END
	done
	cat <<-END
	idle idle-c1000  idle  idle 1 1000 idle - # 1,000 connections
	idle idle-c9500  idle  idle 1 9500 idle - # 9,500 connections
	peak read-64k-x128  peak  read:65536  128 1 idle -
	peak write-64k-x128 peak  write:65536 128 1 idle -
	END
}

# name_series, name_rows: print the tables for the report. The second load of the way mixed is a separate row.
name_series() {
	local name title

	echo series,title
	while read -r name title; do printf '%s,"%s"\n' "$name" "$title"; done < <(series_table)
}
name_rows() {
	local series name way work inflight connections group pictures title

	echo series,row,pictures,title
	while read -r series name way work inflight connections group pictures title; do
		printf '%s,%s,"%s","%s"\n' "$series" "$name" "$pictures" "${title#\# }"
		[ "$way" != mixed ] || printf '%s,%s-bulk,-,"bulk READs beside %s"\n' "$series" "$name" "${work^^}"
	done < <(row_table)
}

# Contenders with one hop, then those with two; each is next to its reference, or one further. socat has a process for
# each connection, so rows with many connections omit it.
group() {
	case $1 in
	all) echo direct socat copy haproxy tcp copy2 haproxy2 chain ;;
	variants) echo direct socat copy haproxy-splice haproxy tcp copy2 haproxy2 chain chain-nocrc chain-64k chain-mss chain-v2 ;;
	unforked) echo direct copy haproxy tcp copy2 haproxy2 chain ;;
	ports) echo direct haproxy tcp tcp-reserved haproxy2 chain chain-reserved ;;
	few) echo haproxy tcp haproxy2 chain ;;
	ends) echo direct haproxy tcp copy2 haproxy2 chain ;;
	far) echo direct copy2 haproxy2 chain chain-nocrc chain-64k chain-mss ;;
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

# wanted_rows SERIES: prints "SERIES NAME WAY WORK INFLIGHT CONNECTIONS GROUP" of rows that have contenders
wanted_rows() {
	local series name way work inflight connections group rest

	while read -r series name way work inflight connections group rest; do
		[ "$series" = "$1" ] && [[ $series/$name =~ $rows_wanted ]] || continue
		[ -z "$quick" ] || [[ $series/$name =~ $quick_rows ]] || continue
		[ -z "$(wanted_contenders "$group")" ] || echo "$series $name $way $work $inflight $connections $group"
	done < <(row_table)
}

all_series() { series_table | cut -d' ' -f1; }

list_rows() {
	local series name way work inflight connections group

	for series in $(all_series); do wanted_rows "$series"; done |
		while read -r series name way work inflight connections group; do
			echo "$series/$name $work x$inflight c$connections $way:" $(wanted_contenders "$group")
		done
}

# ---------------------------------------------------------------- series

# contenders_of ROWS...: prints each contender once
contenders_of() {
	local row

	for row; do wanted_contenders "${row##* }"; done | awk '!seen[$0]++'
}

# measure_rows ROWS...: measures in the order A B C, then C B A
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

# measure_beside ROWS...: all contenders run together, but only one of them has work
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

# series_pinned: all proxies share one core; loads and the server share another
series_pinned() {
	local hops_wrap="taskset -c 1" load_wrap="taskset -c 0"

	taskset -c 1 true || die "there is no second core to pin proxies to"
	measure_beside "$@"
}

# series_spinning: something runs on each core whenever nothing else does, so that no wake-up has to wait for a core's
series_spinning() {
	local core

	for ((core = 0; core < $(nproc); core++)); do
		start "spinner$core" chrt -i 0 taskset -c $core bash -c 'while :; do :; done'
	done
	measure_beside "$@"
	for ((core = 0; core < $(nproc); core++)); do stop "spinner$core"; done
}

# measure_new ROWS...: contenders are started and stopped by the way in which the row is measured. That takes long, and
# memory differs little from one round to the next.
measure_new() {
	local rounds=$((rounds < 3 ? rounds : 3))

	serve
	measure_rows "$@"
	stop_serving
}

series_idle() { measure_new "$@"; }
series_peak() { measure_new "$@"; }

far_is_up() { on far ip -br link show lo | grep -q LOWER_UP; }
wire_is_up() { on far ip -br link show wire | grep -q ' UP '; }

# series_wire MTU ROWS...: the far side is a separate network
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
