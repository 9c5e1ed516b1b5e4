#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares the costs of two gateways from TCP to RDMA: the kernel's re-export, which mounts over RDMA and exports that
# mount, and the proxy. This guest is the gateway; client and server are on the host. The guest has one processor, whose
# clock counts executed instructions (boot.sh). All instructions count (lab_work meter): those of the daemon or nfsd, of
# kernel threads and of interrupts. The server's proxy on the host counts the Calls, and the bytes of Calls that it
# fetches by RDMA Read, which takes one more round trip.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/workload.sh"
. "$(dirname "$0")/rows.sh"

# Work of gateway_client.py, and Calls in a turn.
works=("getattr 50" "read 4096 30" "read 65536 30" "read 1048576 6" "sequential 4096 96" "sequential 65536 32" "again 65536 30"
	"write 4096 20 2" "write 65536 20 2" "write 1048576 6 2" "write 4096 20 0" "write 65536 20 0" "write 1048576 6 0")
TURNS=3

# client_says WORDS...: sends a command to the client on the host; sets answer to the words after "done".
client_says() {
	echo "$*" >&"$client"
	read -r -u "$client" answer || fail "the client has ended: $*"
	[[ $answer = done* ]] || fail "$answer"
	answer=${answer#done }
}

# meter_begin; meter_reads: sets busy to the instructions of this machine so far
meter_begin() {
	coproc METER { exec "$LAB_BUILD/tests/lab/lab_work" meter; }
	# Subshells cannot use the descriptors of a coprocess.
	exec {meter_asks}>&"${METER[1]}" {meter_says}<&"${METER[0]}"
}
meter_reads() {
	echo >&"$meter_asks"
	read -r -u "$meter_says" busy
}

# instructions WORDS...: sets instructions to those of this machine during a command of the client
instructions() {
	local before
	meter_reads
	before=$busy
	client_says "$@"
	meter_reads
	instructions=$((busy - before))
}

# upstream: prints the Calls at the server's proxy, and the bytes of Calls that it has fetched by RDMA Read
upstream() {
	local calls fetched
	calls=$(host proxy_count gw-server calls_received) && fetched=$(host proxy_count gw-server read_chunk_bytes_pulled) ||
		fail "the server's proxy does not say: $calls $fetched"
	echo "$calls $fetched"
}

# least FILE COLUMN: prints the smallest number
least() { cut -d' ' -f"$2" "$1" | sort -n | head -1; }

# cost LABEL WORK [SIZE] COUNT [STABLE]: measures the instructions of a Call as the slope between COUNT and three times
# COUNT, and its round trips. Disturbances add instructions, so the smallest of several turns after a warm-up counts.
# The comment has the distance to the second smallest, per Call.
cost() {
	local label=$1 work=("${@:2}") at few many once turn calls fetched calls_after fetched_after each spread
	few=("${work[@]}") many=("${work[@]}")
	at=$(($# > 3 ? 2 : 1)) # where the count stands: behind a size, if there is one
	many[at]=$((3 * few[at]))
	sync
	echo 3 >/proc/sys/vm/drop_caches
	client_says rewind
	client_says "${few[@]}"
	for ((turn = 0; turn < TURNS; turn++)); do
		instructions "${few[@]}"
		once=$instructions
		instructions "${many[@]}"
		echo "$once $instructions"
	done >/run/turns
	read -r calls fetched < <(upstream)
	client_says "${few[@]}"
	read -r calls_after fetched_after < <(upstream)
	each=$((($(least /run/turns 2) - $(least /run/turns 1)) / (2 * few[at])))
	spread=$((($(cut -d' ' -f2 /run/turns | sort -n | sed -n 2p) - $(least /run/turns 2)) / (3 * few[at])))
	say "# $(printf '%-26s %-18s %9d (+%d) ' "$label" "${work[*]}" $each $spread)$(
		awk -v n="${few[at]}" -v c=$((calls_after - calls)) -v f=$((fetched_after - fetched)) 'BEGIN { printf "%.2f %d", c / n, f / n }')"
	paste -sd ',' /run/turns
	[ $each -gt 1000 ] || fail "nothing is counted"
}

# gateway_rows LABEL ADDRESS PORT MOUNT_ADDRESS MOUNT_PORT PATH: runs a row for each work through that gateway
gateway_rows() {
	local label=$1 work
	shift
	client_says open "$@" gateway
	handle=$answer
	say "# $label: the file handle is $((${#handle} / 2)) bytes: $handle"
	for work in "${works[@]}"; do
		row "$label: $work" cost "$label" $work
	done
}

# reexport_mount VERSION: mounts the host's server over siw at /srv/re, and exports that
reexport_mount() {
	NFS3_PATH=/open NFS4_PATH=/open nfs_where "$1" 2301 rdma 10.0.2.2 20148
	mkdir -p /srv/re
	mount -t nfs -o "${nfs_options/,actimeo=1/}" "10.0.2.2:$nfs_path" /srv/re
	exportfs -o rw,fsid=1,no_root_squash,insecure,no_subtree_check "*:/srv/re"
}

reexport_umount() {
	exportfs -ua
	exportfs -f
	umount /srv/re
}

# siw chooses its CRC driver when it is loaded: this one, as on a machine with udev.
modprobe crc32c_intel
guest_start
mount -t nfsd nfsd /proc/fs/nfsd
echo 10 >/proc/fs/nfsd/nfsv4gracetime
# The message size of a machine with more memory.
echo 1048576 >/proc/fs/nfsd/max_block_size
rpcbind -w
wait_for 20 test -S /run/rpcbind.sock
rpc.mountd -p 20048
rpc.nfsd --no-udp -V 3 -V 4 -V 4.1 -V 4.2 8
host_row gw-server iwarp://10.0.2.2:2301 tcp://127.0.0.1:2149
host gateway_file
exec {client}<>/dev/tcp/10.0.2.2/2390
meter_begin
say "# $(printf '%-26s %-22s %12s %25s %8s' "gateway" "a Call, of so many" instructions "Calls" "fetched")"
guest_row proxy-verbs tcp://10.0.2.15:2302 verbs://10.0.2.2:2301
gateway_rows "proxy, tcp=>verbs on siw" 10.0.2.15 2302 10.0.2.2 20148 /open
proxy_stop proxy-verbs
for version in 3 4.2; do
	reexport_mount $version
	gateway_rows "knfsd, of $version on siw" 10.0.2.15 2049 10.0.2.15 20048 /srv/re
	reexport_umount
done
guest_row proxy-iwarp tcp://10.0.2.15:2303 iwarp://10.0.2.2:2301
gateway_rows "proxy, tcp=>iwarp" 10.0.2.15 2303 10.0.2.2 20148 /open
proxy_stop proxy-iwarp
say done
