# SPDX-License-Identifier: BSD-3-Clause
# The Connection Configuration Protocol, which the kernel does not implement: a proxy with the kernel's server, which
# rejects it; with the kernel's client, which never asks; and between two proxies.

# counted SIDE PROXY COUNTER EXPRESSION: compares that counter of the proxy by an expression of test(1).
counted() {
	local count
	count=$(asked "$1" proxy_count "$2" "$3")
	echo "$2: $3 is $count"
	[ "$count" "${@:4}" ] || fail "$2: $3 is $count"
}

# asks_knfsd PROXY VERSION ADDRESS PORT: each connection asks once, gets PROG_UNAVAIL, and continues.
asks_knfsd() {
	WORK=work_files through host "$@" tcp
	counted host "$1" conf_asked -gt 0
	counted host "$1" conf_answered -eq 0
	counted host "$1" conf_refused -gt 0
}

# not_asked PROXY VERSION ADDRESS PORT: the kernel's client works without asking.
not_asked() {
	WORK=work_files through host "$@" rdma
	counted host "$1" conf_served -eq 0
}

# as_drafted PROXY END VERSION ADDRESS PORT: two proxies configure their connections; NFS works through both.
as_drafted() {
	through host "$1" "${@:3}" tcp
	counted host "$1" conf_answered -gt 0
	counted host "$1" conf_refused -eq 0
	counted host "$2" conf_served -gt 0
}
