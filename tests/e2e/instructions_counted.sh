#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The counting of instructions works, with a few RPCs. The test judges only the instructions that reverse Calls add to
# forward RPCs, which are the same in each run.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
not_sanitized
command -v valgrind >/dev/null || skip_all "valgrind is not installed"

instructions() { env -u E2E_INSIDE "$E2E_SRC/../bench/instructions.sh" -b "$E2E_BUILD" "$@"; }

# counts SIDE WORK: prints one row with a plausible number
counts() {
	instructions -q -l "$E2E_BUILD" -s "$1" -w "$2" -f 2 |
		awk -v side="$1" -v work="$2" 'NR == 2 && $1 == side && $2 == work && $5 > 1000 && $5 < 1000000 { good = 1 }
		     END { exit !(NR == 2 && good) }'
}

# counts_device: prints one row with a plausible number
counts_device() {
	env -u E2E_INSIDE "$E2E_SRC/../bench/device_instructions.sh" -b "$E2E_BUILD" -l "$E2E_BUILD" -p mlx5 -k 3 -w getattr -t 1 |
		awk 'NR == 2 && $1 == "mlx5" && $5 > 0 && $6 > 1000 && $6 < 10000000 { good = 1 } END { exit !(NR == 2 && good) }'
}

exits_with() { local wanted=$1; shift; "$@"; [ $? = "$wanted" ]; }

check "the proxy from TCP to RDMA, NFSv3 WRITEs" counts tcp-rdma write
check "the proxy from RDMA to TCP, COMPOUNDs of NFSv4.1" counts rdma-tcp compound-read
check "both ends over an RDMA device in memory" counts_device
works=()
short_tier && works=(-w write -r 10000)
check "1,000 reverse Calls a second add 1 % to a forward RPC at most" \
	"$E2E_SRC/../bench/reverse_instructions.sh" -b "$E2E_BUILD" -n 100 "${works[@]}"
check "of what is past its limit it says so" \
	exits_with 1 "$E2E_SRC/../bench/reverse_instructions.sh" -b "$E2E_BUILD" -n 100 -m -5 -w getattr -r 10000
check "a load generator that is not there is a skip" exits_with 77 instructions -l /
finish
