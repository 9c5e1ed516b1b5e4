#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Each call of a device and of its connection manager fails once, and completions come late, in another order, or with
# each error. A client that retries gets its data, and the proxy loses and leaks nothing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/standin.sh"
enter "$@"
needs_proxies
chooses_dialect

BYTES=1m

# copies: a client writes a file and reads it; if it cannot connect, it tries again
copies() {
	local tries
	for tries in 1 2 3; do
		nfs_client "$V4" write file $BYTES 4 128k && nfs_client "$V4" verify file $BYTES 4 && return
		echo "# try $tries failed"
	done
	return 1
}

# faulty KIND PROFILE FAULTS: the faults must have occurred
faulty() {
	local name=$3

	stand_in "$@"
	start_device
	check "$2, $1, $name: a client has what it wrote" copies
	check "$2, $1, $name: the fault has happened" grep -qE '^standin: [a-z_]+ [0-9]+:' $T/a.log
	stop_proxy a
	check "$2, $1, $name: the device has had everything back" "${BACK:-nothing_left}"
	mv $T/a.log "$T/$((++runs)).log"
}

one_left() { grep -qE '^standin: left: pds [01] mrs [01] mws 0 cqs [01] qps [01] channels [01] ids [01] event channels 0$' $T/a.log; }

# refused FAULT: a daemon with that fault does not start
refused() {
	stand_in roce mlx5 "$1"
	device_config >$T/a.conf
	# shellcheck disable=SC2086
	start a $PROXY_WRAP "$PROXY" -c $T/a.conf
	check "$1: the proxy does not start" wait_for 20 has_ended a
	stop a
	check "$1: it fails" [ "$exit_status" = 1 ]
	check "$1: it says why" logged a "back: cannot listen on verbs://"
	check "$1: the device has had everything back" nothing_left
	mv $T/a.log "$T/$((++runs)).log"
}
declare -i runs=0

# The errnos are those of the seven drivers, their libraries and uverbs. EIO is also the result of a command that fails
# in the firmware.
roce=(
	open_device:2=EIO query_device:1-3=EIO query_device:2=EINVAL query_device:3=ENOMEM query_port:1=EINVAL query_port:1-2=EIO
	alloc_pd:1=ENOMEM alloc_pd:2=ENOMEM alloc_pd:2=EINVAL alloc_pd:3=EFAULT alloc_pd:2=EIO
	alloc_mw:1=EINVAL alloc_mw:1=EOPNOTSUPP alloc_mw:2-30=ENOMEM alloc_mw:5=EIO
	reg_mr:1=ENOMEM reg_mr:1=EOPNOTSUPP reg_mr:2=EINVAL reg_mr:2=EPERM reg_mr:3=EFAULT reg_mr:4=EIO reg_mr:2=wait-300
	create_comp_channel:1=ENOMEM create_comp_channel:2=EMFILE
	create_cq:1=ENOMEM create_cq:2=EINVAL create_cq:1=EOPNOTSUPP create_cq:2=EFAULT create_cq:3=EPROTO create_cq:1=EIO
	create_qp:1=EINVAL create_qp:1-2=EINVAL create_qp:1-4=EINVAL create_qp:3=ENOMEM create_qp:1-4=ENODEV create_qp:2=EFAULT
	create_qp:1-4=EOPNOTSUPP create_qp:1=ENOSYS create_qp:1=EIO create_qp:1=wait-300
	init_qp_attr:1=EINVAL init_qp_attr:2=EINVAL init_qp_attr:3=EINVAL init_qp_attr:6=EIO
	modify_qp:1=EINVAL modify_qp:2=ETIMEDOUT modify_qp:3=EIO modify_qp:4=ENOMEM modify_qp:5=EINVAL modify_qp:6=EOPNOTSUPP
	modify_qp:7=EFAULT modify_qp:8=EIO modify_qp:1=ENOSYS
	post_send:1=EINVAL post_send:2=full post_send:5=EOPNOTSUPP post_send:9=EIO post_send:12=-EINVAL post_send:20=ENOMEM
	post_recv:1=EINVAL post_recv:2=full post_recv:5=EIO post_recv:7=-EINVAL post_recv:20=ENOMEM
	req_notify_cq:1=EIO req_notify_cq:4=EINVAL poll_cq:1=EIO poll_cq:10=EINVAL poll_cq:33=EFAULT poll_cq:60=ENOENT
	create_event_channel:1=EMFILE create_event_channel:2=EMFILE create_event_channel:3=ENOMEM
	create_id:2=ENOMEM resolve_addr:1=ENODEV resolve_addr:1=EADDRNOTAVAIL resolve_addr:2=ENOMEM
	resolve_route:1=EINVAL resolve_route:1=ENOMEM
	connect:1=EINVAL connect:1=ENOMEM accept:1=EINVAL accept:1=ENOMEM establish:1=EINVAL establish:1=ENXIO
	disconnect:1=EINVAL disconnect:1=ENXIO migrate_id:1=ENODEV migrate_id:1=ENXIO
	completion:1-=hold-5 completion:1-=swap-5
)
# Each status except success and a flush error.
for status in 1 2 3 4 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do
	roce+=("completion:$((status + 4))=status-$status")
done
iwarp=(
	alloc_pd:1=ENOMEM alloc_pd:2=EFAULT reg_mr:2=ENOMEM reg_mr:9=ENOMEM reg_mr:5=EINVAL reg_mr:12=EIO
	create_cq:1=ENOMEM create_cq:2=EINVAL create_qp:1=EINVAL create_qp:1-2=EINVAL create_qp:1=ENOMEM create_qp:2=EIO
	post_send:1=dead post_send:2=full post_send:9=-EINVAL post_send:20=dead
	post_recv:1=dead post_recv:2=full post_recv:20=-EINVAL poll_cq:20=EFAULT poll_cq:41=EINVAL
	connect:1=ECONNREFUSED connect:1=EADDRINUSE connect:1=EHOSTUNREACH connect:1=ENODEV connect:1=ENOMEM
	accept:1=EINVAL accept:1=ECONNRESET accept:2=ENOMEM disconnect:1=EINVAL disconnect:2=ENXIO
	migrate_id:1=ENODEV
	completion:1-=hold-5 completion:1-=swap-5 completion:7=status-1 completion:12=status-10 completion:20=status-4
)
# The results of the other drivers that differ from those of these two.
qedr=(post_send:2=full post_send:5=dead post_send:9=-EINVAL post_recv:2=full post_recv:9=-EINVAL)
bnxt_re=(post_send:2=full post_send:9=-EINVAL)
# A resource that a device does not destroy stays, with those that depend on it; all others are destroyed.
undestroyed=(destroy_qp:1=EIO destroy_cq:1=EIO destroy_cq:2=EBUSY dereg_mr:1=EIO destroy_id:1=EINVAL destroy_id:2=EIO)
# A daemon that cannot listen does not start.
deaf=(open_device:1=ENOMEM create_id:1=ENOMEM bind_addr:1=ENODEV bind_addr:1=EADDRNOTAVAIL listen:1=EADDRINUSE listen:1=EINVAL)

# In the short tier a verb fails in one way on each device. ./dev test --all, and this test by its name, test all ways.
one_of_each() {
	local -n of=$1

	mapfile -t of < <(printf '%s\n' "${of[@]}" | awk -F '[:=]' '{ kind = $1 == "completion" ? $1 $3 : $1; sub(/-.*/, "", kind) } !seen[kind]++')
}
if short_tier; then
	for list in roce iwarp qedr bnxt_re undestroyed deaf; do one_of_each $list; done
fi

start_ganesha
V4="nfs://127.0.0.1/export?version=4&nfsport=$FRONT_PORT"
for fault in ${FAULTS:-"${roce[@]}"}; do faulty roce mlx5 "$fault"; done
for fault in ${FAULTS:-"${iwarp[@]}"}; do faulty iwarp cxgb4 "$fault"; done
for fault in ${FAULTS:-"${qedr[@]}"}; do
	faulty roce qedr "$fault"
	faulty iwarp qedr "$fault"
done
for fault in ${FAULTS:-"${bnxt_re[@]}"}; do faulty roce bnxt_re "$fault"; done
[ -n "${FAULTS:-}" ] || for fault in "${undestroyed[@]}"; do BACK=one_left faulty roce mlx5 "$fault"; done
[ -n "${FAULTS:-}" ] || for fault in "${deaf[@]}"; do refused "$fault"; done
finish
