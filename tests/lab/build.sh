#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# build.sh DIR: makes what the laboratory boots, in DIR: kver, vmlinux, siw.ko and initrd.gz; and source.tar with
# source.sha256, the tree that workloads unpack.
#
# The kernel is the newest Debian 6.1 that is installed. Debian leaves the siw driver out, so it is built
# from Debian's own kernel source against the matching headers. The initial RAM disk only loads what it
# takes to mount the host's root file system, read-only, under an overlay; the guest is this machine's own
# userland on another kernel. What is there already, for the same kernel, is not made again.
set -euo pipefail
dir=$(mkdir -p "$1" && cd "$1" && pwd)
kver=$(basename -a /lib/modules/6.1.* | sort -V | tail -1)
here=$(cd "$(dirname "$0")" && pwd)
stamp="$kver $(sha256sum <"$here/build.sh")"
if [ -e "$dir/stamp" ] && [ "$(cat "$dir/stamp")" = "$stamp" ]; then
	exit 0
fi
rm -rf "$dir/stamp" "$dir/initrd" "$dir/linux-source-6.1"

tree=(linux-source-6.1/drivers/infiniband/{sw/rxe,sw/siw,ulp} linux-source-6.1/net/sunrpc)
tar -C "$dir" -xf /usr/src/linux-source-6.1.tar.xz "${tree[@]}"
(cd "$dir" && find "${tree[@]}" -type f -print0 | xargs -0 sha256sum >source.sha256)
tar -C "$dir" -cf "$dir/source.tar" "${tree[@]}"
siw=$dir/linux-source-6.1/drivers/infiniband/sw/siw
make -s -C "/lib/modules/$kver/build" M="$siw" CONFIG_RDMA_SIW=m modules
strip -g -o "$dir/siw.ko" "$siw/siw.ko"
rm -rf "$dir/linux-source-6.1"

# Unpacked here, the kernel is not unpacked in each guest by emulated instructions. Where its payload begins and how long it is
# stands in its header (the kernel's Documentation/x86/boot.rst).
header() { od -A n -t "u$2" -j "$1" -N "$2" "/boot/vmlinuz-$kver" | tr -d ' '; }
payload=$((($(header $((0x1f1)) 1) + 1) * 512 + $(header $((0x248)) 4)))
dd if="/boot/vmlinuz-$kver" bs=1M iflag=skip_bytes,count_bytes skip=$payload count="$(header $((0x24c)) 4)" status=none |
	xz -d --single-stream >"$dir/vmlinux"

root=$dir/initrd
mkdir -p "$root"/{bin,mods,proc,sys,dev}
cp "$(command -v busybox)" "$root/bin/busybox"
n=10
for m in 9p 9pnet_virtio virtio_pci virtio_net overlay; do
	modprobe -S "$kver" --show-depends "$m"
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r module; do
	cp "$module" "$root/mods/$n-$(basename "$module")"
	n=$((n + 1))
done
cat >"$root/init" <<'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
for m in /mods/*.ko; do $b insmod "$m"; done
$b mkdir -p /lower /rw /newroot
$b mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=512000,cache=loose root /lower
$b mount -t tmpfs tmpfs /rw
$b mkdir -p /rw/u /rw/w
$b mount -t overlay -o lowerdir=/lower,upperdir=/rw/u,workdir=/rw/w overlay /newroot
for d in proc sys dev; do $b mount --move /$d /newroot/$d; done
for a in $($b cat /newroot/proc/cmdline); do case $a in guest=*) script=${a#guest=} ;; esac; done
exec $b switch_root /newroot /bin/bash "$script"
INIT
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$dir/initrd.gz"
rm -rf "$root"
echo "$kver" >"$dir/kver"
echo "$stamp" >"$dir/stamp"
