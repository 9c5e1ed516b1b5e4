#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# container.sh BUILD: tests that the image of the package that deb.sh left in BUILD/package serves NFS, started as a
# container runtime does: its entry point, read-only, with one capability. TAP.
# shellcheck disable=SC2034
E2E_BUILD=${1:-${E2E_BUILD:-build}}
. "$(dirname "$0")/../e2e/lib.sh"
. "$E2E_SRC/../lib/root.sh"
work=$E2E_BUILD/package
image=localhost/rpcrdma-proxy
storage=(--storage-driver vfs --root "$work/images" --runroot "$work/images.run")

# Steps that need the host's network come before enter().
build_image() {
	local deb tool said

	for tool in mmdebstrap podman; do
		command -v $tool >/dev/null || skip_all "$tool is not installed"
	done
	deb=$(echo "$work"/rpcrdma-proxy_*.deb)
	[ -e "$deb" ] || skip_all "no package was built"
	[ "$(id -u)" = 0 ] || skip_all "needs root"
	rm -rf "$work/images" "$work/images.run"
	if ! said=$("$E2E_SRC/../../container/build" "$deb" "${storage[@]}" 2>&1); then
		! root_unreachable <(echo "$said") || skip_all "Debian's packages cannot be fetched"
		not_ok "the image is built"
		note "$said"
		echo "1..1"
		exit 1
	fi
	podman "${storage[@]}" image mount $image >"$work/image.path"
	podman "${storage[@]}" image inspect --format '{{json .Config}}' $image >"$work/image.json"
}
[ -n "${E2E_INSIDE:-}" ] || build_image
enter "$@"

# assemble: makes the container's root as a runtime does: $T/c
assemble() {
	mkdir $T/c && mount --bind "$(cat "$work/image.path")" $T/c || return
	mount -t tmpfs -o mode=750 tmpfs $T/c/run/rpcrdma-proxy && mount -t proc proc $T/c/proc &&
		mount --bind $T/c.conf $T/c/etc/rpcrdma-proxy.conf && mount -o remount,bind,ro $T/c
}
in_container() { chroot $T/c setpriv --no-new-privs --bounding-set=-all,+net_bind_service "$@"; }

start_ganesha
service() { printf '  { name = "%s"; listen = "%s"; connect = "%s"; }' "$@"; }
cat >$T/c.conf <<-END
	services = (
	$(service exports "rdma://127.0.0.1:20049" "tcp://127.0.0.1:$NFS_PORT")
	);
END
cat >$T/a.conf <<-END
	control = "$T/a.sock";
	services = (
	$(service nfs "tcp://127.0.0.1:$FRONT_PORT" "rdma://127.0.0.1:20049")
	);
END
check "the image is as a runtime needs it" assemble
mapfile -t entry < <(jq -r '.Entrypoint[]' "$work/image.json")
check "it has the daemon's user" grep -q '^rpcrdma-proxy:' $T/c/etc/passwd
check "nothing can be written to it" not touch $T/c/etc/there
start container chroot $T/c setpriv --no-new-privs --bounding-set=-all,+net_bind_service "${entry[@]}"
serves container 20049 || bail "the daemon does not start: $(tail -n 3 $T/container.log)"
start a "$PROXY" -c $T/a.conf
serves a $FRONT_PORT || bail "the proxy before it does not start"

V4="nfs://127.0.0.1/export?version=4&nfsport=$FRONT_PORT"
head -c 3000000 /dev/urandom >$T/file
check "a file is written" nfs_client "$V4" put $T/file file
check "and is read" nfs-cp "${V4/\?//file?}" $T/back
check "and is what it was" cmp $T/file $T/back
check "rpcrdma-proxyctl in it asks the daemon" in_container rpcrdma-proxyctl services
stop container
check "it ends in good order on SIGTERM" [ "$exit_status" = 0 ]
finish
