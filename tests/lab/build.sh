#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# build.sh DIR SERIES: makes the files in DIR that the guests boot: kver, vmlinux, vmlinuz, siw.ko, initrd.gz; modules,
# a link to the kernel's directory; source.tar and source.sha256, a source tree for workloads.
#
# The kernel is the newest of that series that is installed or that fetch.sh fetched (kernels.sh). Debian's kernels lack
# siw, so this script builds it from Debian's kernel source with the matching headers. The initial RAM disk mounts the
# host's root file system read-only under an overlay. Files that already exist for the same kernel are kept.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/kernels.sh"
dir=$(mkdir -p "$1" && cd "$1" && pwd) series=$2
root=$(kernel_root "$series") || { echo "no packages of Linux $series"; exit 1; }
kver=$(kernel_name "$root" "$series")
stamp="$root $kver $(sha256sum <"$here/build.sh")"
if [ -e "$dir/stamp" ] && [ "$(cat "$dir/stamp")" = "$stamp" ]; then
	exit 0
fi
rm -rf "$dir/stamp" "$dir/initrd" "$dir"/source*

tree=(drivers/infiniband/{sw/rxe,sw/siw,ulp} net/sunrpc)
mkdir -p "$dir/source"
tar -C "$dir/source" --strip-components=1 -xf "$root/usr/src/linux-source-$series.tar.xz" "${tree[@]/#/linux-source-$series/}"
(cd "$dir" && find source -type f -print0 | xargs -0 sha256sum >source.sha256)
tar -C "$dir" -cf "$dir/source.tar" source
siw=$dir/source/drivers/infiniband/sw/siw
# The compiler of the kernel, or the default compiler.
compiler=$(sed -n 's/^CONFIG_CC_VERSION_TEXT="\([^ ]*\) .*/\1/p' "$root/boot/config-$kver")
command -v "$compiler" >/dev/null || compiler=gcc
make -s -C "$root/usr/src/linux-headers-$kver" CC="$compiler" M="$siw" CONFIG_RDMA_SIW=m CONFIG_DEBUG_INFO_BTF_MODULES= modules
strip -g -o "$dir/siw.ko" "$siw/siw.ko"
rm -rf "$dir/source"
ln -sfn "$root/lib/modules/$kver" "$dir/modules"
ln -sfn "$root/boot/vmlinuz-$kver" "$dir/vmlinuz"

# Unpacks the kernel here, because a guest would take long for it. Its header has the offset and length of the payload
# (the kernel's Documentation/arch/x86/boot.rst).
header() { od -A n -t "u$2" -j "$1" -N "$2" "$dir/vmlinuz" | tr -d ' '; }
payload=$((($(header $((0x1f1)) 1) + 1) * 512 + $(header $((0x248)) 4)))
length=$(header $((0x24c)) 4) unpack=(xz -d --single-stream)
# The length of the kernel follows zstd's data.
! grep -qx CONFIG_KERNEL_ZSTD=y "$root/boot/config-$kver" || { length=$((length - 4)) unpack=(zstd -qdc); }
dd if="$dir/vmlinuz" bs=1M iflag=skip_bytes,count_bytes skip=$payload count="$length" status=none | "${unpack[@]}" >"$dir/vmlinux"

ram=$dir/initrd
mkdir -p "$ram"/{bin,mods,proc,sys,dev}
cp "$(command -v busybox)" "$ram/bin/busybox"
n=10
for m in 9p 9pnet_virtio virtio_pci virtio_net overlay; do
	modprobe ${root:+-d "$root"} -S "$kver" --show-depends "$m"
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r module; do
	name=$(basename "$module" .xz)
	case $module in
	*.xz) xz -dc "$module" >"$ram/mods/$n-$name" ;;
	*) cp "$module" "$ram/mods/$n-$name" ;;
	esac
	n=$((n + 1))
done
cat >"$ram/init" <<'INIT'
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
chmod +x "$ram/init"
(cd "$ram" && find . | cpio -o -H newc --quiet | gzip -1) >"$dir/initrd.gz"
rm -rf "$ram"
echo "$kver" >"$dir/kver"
echo "$stamp" >"$dir/stamp"
