#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# boot.sh DIR SHARE SCRIPT: boots the guest that build.sh made in DIR.
#
# SCRIPT runs as the guest's init on a copy of the host's root file system. SHARE is a writable directory with the mount
# tag "share". Its networks are the tap devices lab0 and lab1 (run.sh). The first serial port writes the kernel's
# messages to SHARE/console.log; the second writes the reports of the rows to standard output. An oops ends the guest.
#
# KVM is not used, because it hangs too often on nested machines. The kernel does not check its timer at boot, because
# on a busy machine the ticks come too late and it would panic. The guest's processor lacks fast rep movsb (erms, fsrm),
# which QEMU emulates byte by byte; rep movsq copies seven to fifteen times as fast. Mitigations against speculation are
# off.
#
# LAB_EMULATION selects the emulation:
#   parallel      two processors with all features, a thread of QEMU for each
#   cheap         two processors in one thread of QEMU, which takes half the time of parallel. They lack most features
#                 that are slow to emulate (AVX, five levels of page tables, SMAP). Programs have fixed addresses,
#                 because QEMU 7.2 translates code again at new ones. The kernel is not compressed.
#   instructions  one processor; its clock advances by a nanosecond with each instruction
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
