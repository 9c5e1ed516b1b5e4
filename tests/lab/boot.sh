#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# boot.sh DIR SHARE SCRIPT [HOSTFWD...]: boots the guest that build.sh made in DIR.
#
# SCRIPT runs as the guest's init, with the host's root file system as its own and SHARE, writable, behind
# the mount tag "share". The guest's address is 10.0.2.15 and this host's loopback is 10.0.2.2 to it; a
# HOSTFWD such as tcp:127.0.0.1:20049-10.0.2.15:20049 leads the other way. Emulation only: KVM, where it is
# there at all, hangs too often on nested machines. LIMIT bounds the run in seconds.
set -euo pipefail
dir=$1 share=$2 script=$3
shift 3
fwd=
for f; do fwd+=",hostfwd=$f"; done
exec timeout --foreground -k 5 "${LIMIT:-300}" qemu-system-x86_64 \
	-accel tcg,thread=multi -cpu max -smp 2 -m "${LAB_MEMORY_MIB:-3072}" \
	-nodefaults -display none -serial stdio -monitor none -no-reboot \
	-kernel "/boot/vmlinuz-$(cat "$dir/kver")" -initrd "$dir/initrd.gz" \
	-append "console=ttyS0 quiet panic=-1 guest=$script" \
	-virtfs "local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap" \
	-virtfs "local,path=$share,mount_tag=share,security_model=none" \
	-netdev "user,id=n0$fwd" -device virtio-net-pci,netdev=n0,romfile= \
	-device virtio-rng-pci </dev/null
