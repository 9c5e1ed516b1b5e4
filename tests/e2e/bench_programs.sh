#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The programs of tests/bench send valid NFSv3, check each byte, fail if a byte is wrong or missing, and print correct
# results.
# shellcheck disable=SC2034
A_SERVICE='ddp = "nfs"; max_connections = 1000;' B_SERVICE='max_connections = 1000;'
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
BENCH=$E2E_BUILD/tests/bench
. "$E2E_SRC/../bench/load.sh"
COPY_PORT=12070 V6_PORT=12071 BAD_PORT=12072 QUIET_PORT=12073

# load WHERE ARGS...: runs nfs_load; its line of JSON goes to WHERE.json. WHERE selects the port
declare -A port_of=([direct]=$NFS_PORT [copied]=$COPY_PORT [chain]=$FRONT_PORT [bad]=$BAD_PORT [quiet]=$QUIET_PORT)
short_s=$(limit_s 0.1 1) # that a load goes on
load() {
	local where=$1

	shift
	with_limit 60 "$BENCH/nfs_load" -t $short_s -d 0 "$@" 127.0.0.1 "${port_of[$where]}" >"$where.json" 2>"$where.err"
}

# told WHERE FILTER: FILTER holds for the printed results
told() { jq -e "$2" "$1.json" || { cat "$1.json"; false; }; }

# load_waits WHERE: starts a load with -g. Each connection must send its NULL and no other Call before the script
# continues, and all must stay open until it ends the load
load_waits() {
	load_start waits 127.0.0.1 "${port_of[$1]}" -w getattr -k 20 -t "$(limit_s 0.1 1)" -g || return 1
	wait_for 10 connected "${port_of[$1]}" 20 && load_goes_on waits && load_says waits || return 1
	jq -e '.errors == 0 and .opened == 20 and .all_ops >= .ops and .ops > 0' <<<"$said" && connected "${port_of[$1]}" 20 &&
		load_ends waits
}
connected() { [ "$(ss -Hnt state established "sport = :$1" | wc -l)" = "$2" ]; }

server_start serve $NFS_PORT
start copied "$BENCH/copy_proxy" $COPY_PORT 127.0.0.1 $NFS_PORT
serves copied $COPY_PORT || bail "copy_proxy does not start"
start_chain

# ---------------------------------------------------------------- figures

good='.errors == 0 and .mismatches == 0 and .ops > 0 and .all_ops >= .ops and .p50_us > 0 and .p50_us <= .p99_us and .p99_us <= .max_us'
for where in direct copied chain; do
	for work in null getattr commit read:1 read:4096 read:1048577 write:4099 write:1048576; do
		bytes=${work#*:}
		[ "$bytes" != "$work" ] || bytes=0
		check "$where: $work" load $where -w $work -n 3 -k 2
		check "$where: $work has figures" told $where "$good and (.bytes_per_s - .ops_per_s * $bytes | fabs) <= $bytes + 1"
	done
	check "$where: 100 connections" load $where -w getattr -k 100 -t "$(limit_s 0.7 1)"
	check "$where: each was served" told $where "$good and .opened == 100 and .least_ops > 0 and .least_ops * 100 <= .ops and .most_ops * 100 >= .ops"
	check "$where: a crowd" load $where -w crowd -k 200
	check "$where: each of it had a Reply" told $where '.errors == 0 and .ops == 200 and .all_ops == 200 and .opened == 200 and .most_ops == 1 and .max_us <= .seconds * 1000000 + 2'
	check "$where: connections that come and go" load $where -w connect -n 8
	check "$where: they do" told $where '.errors == 0 and .ops > 0 and .opened > 8 and .all_ops == .opened and .connect_per_s == .ops_per_s'
	check "$where: it waits for the measuring script" load_waits $where
	rate_s=$(limit_s 1.5 1)
	check "$where: Calls at a rate" load $where -w getattr -n 4 -k 3 -r 200 -t "$rate_s"
	check "$where: it is that rate" told $where ".errors == 0 and .ops > 100 and .ops <= 300 * $rate_s"
done
server_start six -a ::1 $V6_PORT
check "IPv6" "$BENCH/nfs_load" -t "$(limit_s 0.1 1)" -w read:100 ::1 $V6_PORT
check "DDP finds the data of their READs" counter_is a rdma write_chunk_bytes_taken -gt 1000000
check "DDP finds the data of their WRITEs" counter_is b rdma read_chunk_bytes_pulled -gt 1000000

# half_closed: a client that half-closes after its Call gets the Reply, and then the end
half_closed() {
	with_limit 20 python3 - $COPY_PORT <<-'END'
		import socket, struct, sys
		call = struct.pack(">10I", 7, 0, 2, 100003, 3, 0, 0, 0, 0, 0)
		client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
		client.sendall(struct.pack(">I", 0x80000000 | len(call)) + call)
		client.shutdown(socket.SHUT_WR)
		reply = client.makefile("rb").read()
		sys.exit(reply != struct.pack(">7I", 0x80000018, 7, 1, 0, 0, 0, 0))
	END
}
check "copy_proxy passes on that one side has ended" half_closed

# ---------------------------------------------------------------- connections that stay

check "300 connections open, and report that" hold held 127.0.0.1 "$FRONT_PORT" 300
check "they stay" wait_for 10 connected "$NFS_PORT" 300
check "they end on request" load_ends held

# ---------------------------------------------------------------- what goes wrong

server_start bad -x 50 $BAD_PORT
check "a wrong byte in one READ of 50 fails" not load bad -w read:4096 -n 4
check "each is counted" told bad '.mismatches > 0 and (.mismatches - .all_ops / 50 | fabs) <= 1 and .errors == 0'
check "a wrong byte in a WRITE fails" not load bad -w write:70000 -n 2 -x 5
check "for the server says that it is wrong" grep -q "the server says 5" bad.err
server_end bad
check "and fails, too" [ "$exit_status" = 1 ]
check "having counted it" told bad '.mismatches == 1 and .bytes_in > 0'

server_start quiet $QUIET_PORT
kill -STOP "${pid_of[quiet]}"
check "a server that says nothing fails" not load quiet -w null -W 0.5
check "so it is told" grep -q "no Reply for 0.5 s" quiet.err
kill -CONT "${pid_of[quiet]}"

# paused: Calls come at a rate for 5 s, and the server is stopped for at least 300 ms, from the first Call on. Both
# times are extended on a slow machine.
has_calls() { ss -Hnt state established "sport = :$QUIET_PORT" | awk '$1 > 0 { found = 1 } END { exit !found }'; }
paused() {
	load_start rate 127.0.0.1 $QUIET_PORT -w getattr -n 2 -k 2 -r 2000 -t "$(awk -v factor="$slower" 'BEGIN { print 5 * factor }')" -d 0 -g || return 1
	kill -STOP "${pid_of[quiet]}"
	load_goes_on rate && wait_for 20 has_calls
	pause "$(awk -v factor="$slower" 'BEGIN { print 0.3 * factor }')"
	kill -CONT "${pid_of[quiet]}"
	load_says rate && echo "$said" >rate.json && load_ends rate
}
slower=$(limit_s 1 2)
check "Calls at a rate while the server is stopped for a moment" paused
check "those that are due wait, and that counts" told rate '.queued_max > 300 and .max_us > 250000 and .p99_us > 50000 and .ops > 1000'

start lost "$BENCH/nfs_load" -w getattr -t 30 127.0.0.1 $QUIET_PORT
wait_for 20 connected $QUIET_PORT 1
stop quiet KILL
wait "${pid_of[lost]}"
check "a connection that is lost fails" [ $? = 1 ]
check "so it is told" grep -q "a connection was lost" lost.log
check "no server fails" not load quiet -w null

# ---------------------------------------------------------------- what others say of it

dissected() { tshark -n -o tcp.desegment_tcp_streams:TRUE -d "tcp.port==$NFS_PORT,rpc" -r works.pcapng "$@" 2>tshark.err; }
# packets FILTER: prints the number of matching messages
packets() { dissected -Y "$1" -T fields -e rpc.xid >xids && tr ',' '\n' <xids | grep -c .; }

if command -v dumpcap >/dev/null && command -v tshark >/dev/null; then
	start dumpcap dumpcap -q -i lo -B 64 -f "tcp port $NFS_PORT" -w works.pcapng
	wait_for 20 grep -q '^File:' dumpcap.log || bail "dumpcap does not start"
	calls=0
	for work in null getattr commit read:1000 write:1000 read:1001 write:1001; do
		load direct -w $work -r 200 -d 0
		calls=$((calls + 1 + $(jq .all_ops direct.json)))
	done
	server_end serve
	wait_for 20 eval 'dissected -Y tcp.flags.fin==1 | [ "$(wc -l)" -ge 7 ]'
	stop dumpcap INT
	check "tshark finds each Call" [ "$(packets 'rpc.msgtyp == 0')" = $calls ]
	check "tshark finds each Reply" [ "$(packets 'rpc.msgtyp == 1 && rpc.replystat == 0 && rpc.state_accept == 0')" = $calls ]
	check "none is malformed" [ "$(packets '_ws.malformed || rpc.fragment.error')" = 0 ]
	for procedure in 1 6 7 21; do
		check "procedure $procedure succeeds" [ "$(packets "nfs.procedure_v3 == $procedure && nfs.status3 == 0")" -gt 10 ]
	done
	check "a READ has attributes and its bytes" [ "$(packets 'nfs.procedure_v3 == 6 && nfs.fattr3.size == 1073741824 && nfs.count3 == 1001')" -gt 10 ]
else
	server_end serve
fi
check "the server has found no wrong byte" told serve '.mismatches == 0 and .calls > 1000 and .bytes_in > 1000000 and .bytes_out > 1000000'
finish
