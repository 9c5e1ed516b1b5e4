#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Clients reconnect before the proxy has noticed that their old connections closed: its worker is busy for more than two
# seconds, or the close follows much unread data. Each client must get the Reply that it did not read. Through one proxy
# and through two, with either of them late.
BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect

any='source_port = "any";'
replay() { rpc_peer "$1" $BACK_PORT 0 0 replay remove "${@:2}"; }
to_server() { service "$1" "$2://127.0.0.1:$3" "tcp://127.0.0.1:$BACK_PORT" "$4"; }
to_b() { service "$1" "$2://127.0.0.1:$3" "$4://127.0.0.1:$5" "send_proxy = true; $([ "$4" = iwarp ] || echo "$any")"; }
from_a='accept_proxy_from = [ "127.0.0.1" ];'

cat >b.conf <<-END
	control = "$T/b.sock"; workers = 2;
	services = (
	$(to_server tcp tcp 6001 "$any $from_a"), $(to_server iwarp iwarp 6002 "$from_a"), $(to_server own tcp 6003 "$any")
	);
END
cat >a.conf <<-END
	control = "$T/a.sock"; workers = 2;
	services = (
	$(to_server one tcp 4001 "$any"), $(to_server reserved tcp 4002 'source_port = "reserved";'),
	$(to_server rdma iwarp 4003 "$any"), $(service own tcp://127.0.0.1:4004 tcp://127.0.0.1:6003 'source = "client";'),
	$(to_b two-tcp tcp 4011 tcp 6001), $(to_b two-iwarp tcp 4012 iwarp 6002), $(to_b two-rdma iwarp 4013 iwarp 6002)
	);
END

# run VARIABLE=VALUE LATE...: starts the proxies; those in LATE are late in that way (slowreads.c)
run() {
	local side wrap

	for side in b a; do
		wrap=()
		[[ " ${*:2} " != *" $side "* ]] || wrap=(env "LD_PRELOAD=$BIN/slowreads.so" SLOWREADS_HOLDS=3 "$1")
		start $side "${wrap[@]}" "$PROXY" -c $side.conf
	done
	serves b 6001 6002 6003 || bail "proxy b does not start"
	serves a 4001 4002 4003 4004 4011 4012 4013 || bail "proxy a does not start"
}
end() { for side in a b; do stop_proxy $side; done; }
# held LATE WHAT PORT KIND: the worker is held for longer than two seconds
held() {
	run SLOWREADS_HOLD_MS=2500 "$1"
	check "a worker is held: $2" replay "$3" "$4" 1
	end
}

held a "one proxy" 4001 tcp
held a "one proxy, for RDMA clients" 4003 rdma
held a "the first proxy, whose clients come from their own ports" 4004 tcp
held b "the second proxy" 4011 tcp
held b "the second proxy, over iWARP" 4012 tcp

run SLOWREADS_BYTES=64 a b
for n in 1 3; do
	check "ends of $n clients stand behind what is unread" replay 4001 tcp-hasty $n
	check "… from reserved ports" replay 4002 tcp-hasty $n
	check "… for RDMA clients" replay 4003 rdma-hasty $n
	check "… through two proxies, from their own ports" replay 4004 tcp-hasty $n
	check "… through two proxies" replay 4011 tcp-hasty $n
	check "… over iWARP" replay 4012 tcp-hasty $n
	check "… for RDMA clients" replay 4013 rdma-hasty $n
done
end
finish
