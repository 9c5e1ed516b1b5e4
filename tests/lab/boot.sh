#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# boot.sh DIR SHARE SCRIPT: boots the guest that build.sh made in DIR.
#
# SCRIPT runs as the guest's init, with the host's root file system as its own, and SHARE, writable, with the mount tag
# "share". Its networks are the tap devices lab0 and lab1 (see run.sh). The kernel's messages go to SHARE/console.log
# by the first serial port; the reports of the rows go to standard output by the second. An oops ends the guest,
# because a kernel proves nothing after one. Emulation only: KVM, where it exists at all, hangs too often on nested
# machines. The kernel does not check its timer at boot: on a busy machine the ticks come too late for that check, and
# it panics. The guest sees no fast rep movsb (erms, fsrm), which the emulator executes byte by byte: its kernel copies
# seven to fifteen times as fast with rep movsq. Mitigations against speculation are off.
#
# LAB_EMULATION selects the emulation:
#   parallel      two processors, a thread of QEMU for each, with all that QEMU emulates
#   cheap         two processors in turn in one thread: spinning and waking across threads take half of the time of parallel. They
#                 lack most features that are slow to emulate (no AVX, no fifth level of page tables, no SMAP). Programs always have
#                 the same addresses, because QEMU 7.2 would translate them again at others. The kernel is not compressed.
#   instructions  one processor, whose clock advances by a nanosecond with each instruction
set -euo pipefail
dir=$1 share=$2 script=$3
processors=(-accel "tcg,thread=multi" -smp 2) cpu=max,-erms,-fsrm kernel=$dir/vmlinuz parameters=
case ${LAB_EMULATION:-parallel} in
parallel) ;;
cheap)
	processors=(-accel "tcg,thread=single" -smp 2)
	cpu=Nehalem kernel=$dir/vmlinux parameters=norandmaps
	;;
instructions)
	processors=(-accel "tcg,thread=single" -smp 1 -icount "shift=0")
	parameters="tsc=reliable tsc=noirqtime"
	;;
*)
	echo "boot.sh: LAB_EMULATION: no such emulation: $LAB_EMULATION" >&2
	exit 2
	;;
esac
exec qemu-system-x86_64 \
	"${processors[@]}" -cpu $cpu -m "$LAB_MEMORY_MIB" \
	-nodefaults -display none -serial "file:$share/console.log" -serial stdio -monitor none -no-reboot \
	-kernel "$kernel" -initrd "$dir/initrd.gz" \
	-append "console=ttyS0 loglevel=5 oops=panic panic=-1 mitigations=off no_timer_check $parameters guest=$script" \
	-virtfs "local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap" \
	-virtfs "local,path=$share,mount_tag=share,security_model=none" \
	-netdev tap,id=n0,ifname=lab0,script=no,downscript=no -device virtio-net-pci,netdev=n0,romfile= \
	-netdev tap,id=n1,ifname=lab1,script=no,downscript=no -device virtio-net-pci,netdev=n1,romfile= \
	-device virtio-rng-pci </dev/null
