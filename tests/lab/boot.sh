#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# boot.sh DIR SHARE SCRIPT: boots the guest that build.sh made in DIR.
#
# SCRIPT runs as the guest's init, with the host's root file system as its own and SHARE, writable, behind
# the mount tag "share". Its networks are the tap devices lab0 and lab1 (see run.sh). What the kernel says goes to SHARE/console.log
# by the first serial port, what the rows report to standard output by the second. An oops ends the guest, since
# nothing that a kernel does after one tells anything. Emulation only: KVM, where it is there at all, hangs too often on nested
# machines. That its timer works is not asked of a kernel at boot: on a machine with much to do the ticks come too late for that, and it
# panics. The guest is told of no fast rep movsb (erms, fsrm), which the emulator does byte by byte: its kernel copies seven to
# fifteen times as fast with rep movsq. Nothing in it needs to be safe from speculation.
#
# LAB_EMULATION says how:
#   parallel      two processors, a thread of QEMU for each, with all that QEMU emulates
#   cheap         two processors by turns in one thread: spinning and waking across threads take half of what parallel takes. They
#                 have little that is slow to emulate (no AVX, no fifth level of page tables, no SMAP). Programs are always at the
#                 same addresses, since QEMU 7.2 translates them anew at other ones. The kernel is not compressed.
#   instructions  one processor, whose clock goes on by a nanosecond with each instruction
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
