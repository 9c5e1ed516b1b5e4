#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the laboratory's kernels: what fetch.sh fetches, what remains if that fails, and the columns of the table of
# results. The test replaces apt and dpkg by functions. TAP.
set -u
: "${srcdir:=.}" "${builddir:=.}"
. "$srcdir/tests/lib/tap.sh"
dir=$(mktemp -d) || exit 1
trap 'rm -r "$dir"' EXIT
export KERNEL_INSTALLED=$dir/installed XDG_CACHE_HOME=$dir/cache CALLS=$dir/calls PATH=$dir/bin:$PATH
folder=$dir/cache/rpcrdma-proxy/kernels
mkdir "$dir/bin"

# program NAME: creates a program from standard input
program() {
	{ echo '#!/bin/bash'; cat; } >"$dir/bin/$1"
	chmod +x "$dir/bin/$1"
}
program apt-get <<'END'
echo "apt-get $*" >>"$CALLS"
case " $* " in
*" indextargets "*) [ -z "${NO_LISTS:-}" ] && echo http://mirror.example/debian/ ;;
*" download "*)
	[ -z "${NO_PACKAGES:-}" ] || { echo "E: 404 Not Found" >&2; exit 100; }
	for name in "${@:2}"; do [[ $name != linux-[ihks]* ]] || touch "$name.deb"; done
	;;
esac
END
program apt-cache <<'END'
case " $* " in
*" pkgnames "*) printf 'linux-image-6.12.%s\n' 9+deb13-amd64 95+deb13-amd64 95+deb13-rt-amd64 95+deb13-amd64-unsigned ;;
*" show "*) echo "Depends: linux-base, linux-kbuild-6.12.95+deb13, gcc-14" ;;
esac
END
program dpkg-deb <<'END'
[ -z "${BROKEN:-}" ] || exit 2
name=6.12.95+deb13-amd64
mkdir -p "$3"/{boot,lib/modules/$name,usr/src/linux-headers-$name}
touch "$3/boot/vmlinuz-$name" "$3/usr/src/linux-source-6.12.tar.xz"
echo "include /usr/src/linux-headers-6.12.95+deb13-common/Makefile" >"$3/usr/src/linux-headers-$name/Makefile"
END
program depmod </dev/null

# fetched [VARIABLE=VALUE...]: prints the output of fetch.sh, its status, and the contents of the directory
fetched() {
	: >"$CALLS"
	env "$@" "$srcdir/tests/lab/fetch.sh" 6.12
	echo "$? $(ls "$folder" | paste -sd ' ')"
}

same "a machine without lists of Debian's packages fetches none, and says so" \
	"Linux 6.12: this machine has no packages of Debian's|1 " "$(fetched NO_LISTS=yes | paste -sd '|')"
same "a package that cannot be had leaves nothing behind" 1 "$(fetched NO_PACKAGES=yes | grep -c '404 Not Found')"
same "and is a failure" "1 " "$(fetched NO_PACKAGES=yes | tail -1)"
same "so is one that does not unpack" "does not unpack|1 " "$(fetched BROKEN=yes | sed 's/.*deb \(does\)/\1/' | paste -sd '|')"
same "what is fetched is whole" "0 6.12" "$(fetched X=)"
same "the newest one is chosen, signed and for this machine, with its headers, its source and its tools" \
	"linux-headers-6.12.95+deb13-amd64 linux-headers-6.12.95+deb13-common linux-image-6.12.95+deb13-amd64 linux-kbuild-6.12.95+deb13 linux-source-6.12" \
	"$(grep -o 'download .*' "$CALLS" | tr ' ' '\n' | grep ^linux- | LC_ALL=C sort | paste -sd ' ')"
same "its headers are found where they are" "include $folder/6.12/usr/src/linux-headers-6.12.95+deb13-common/Makefile" \
	"$(cat "$folder"/6.12/usr/src/linux-headers-6.12.95+deb13-amd64/Makefile)"
same "it is not fetched again" "0 6.12|0" "$(fetched X= | paste -sd '|')|$(wc -l <"$CALLS")"
. "$srcdir/tests/lab/kernels.sh"
same "it is the one that is built from" "$folder/6.12 6.12.95+deb13-amd64" "$(kernel_root 6.12) $(kernel_name "$(kernel_root 6.12)" 6.12)"
mv "$folder/6.12" "$KERNEL_INSTALLED"
same "what is installed needs no fetching" "0 |0" "$(fetched X= | paste -sd '|')|$(wc -l <"$CALLS")"
same "and comes first" "$KERNEL_INSTALLED" "$(kernel_root 6.12)"
same "one series is not taken for another" 1 "$(kernel_root 6.1 >/dev/null; echo $?)"

mkdir -p "$dir/built"/{6.1,6.12}
echo 6.1.0-1-amd64 >"$dir/built/6.1/kver"
echo 6.12.95-amd64 >"$dir/built/6.12/kver"
"$srcdir/tests/lab/results.sh" "$dir/RESULTS.md" "$dir/built" full \
	"6.1|ok|siw client, 4.1 # 7 s" "6.1|ok|judge: siw client, 4.1: 3 Calls # 1 s" "6.1|ok|siw client, 4.1: kills # 9 s" \
	"6.12|not ok|siw client, 4.1: it hangs" "6.12|not ok|judge: siw client, 4.1: 2 remarks" "6.12|ok|systemd # SKIP no package"
same "results of a row stand side by side, each kernel's in its column" \
	"| siw client, 4.1 | ok, 7 s | not ok: it hangs |" "$(grep '^| siw client, 4.1 |' "$dir/RESULTS.md")"
same "so do the judge's verdicts" "| judge: siw client, 4.1 | ok: 3 Calls, 1 s | not ok: 2 remarks |" \
	"$(grep '^| judge' "$dir/RESULTS.md")"
same "a row whose name begins as another one's is not that one" "| siw client, 4.1: kills | ok, 9 s | - |" \
	"$(grep 'kills |' "$dir/RESULTS.md")"
same "skipped rows are shown" "| systemd | - | skipped: no package |" "$(grep '^| systemd' "$dir/RESULTS.md")"
same "both kernels are named" 1 "$(grep -c '^Kernels 6.1.0-1-amd64 and 6.12.95-amd64 as' "$dir/RESULTS.md")"

# verdict SERIES: prints the verdict on a scenario that a list has only for 6.1, and that the peer has not seen pass
mkdir -p "$dir/share/conformance"
: >"$dir/share/conformance/knfsd.err"
printf '1..1\nnot ok 1 - A1-1 RS a thing is so\n' >"$dir/share/conformance/knfsd.tap"
printf '# a list\n[6.1] A1-1 RS a thing is so | does not | file.c:function\n' >"$dir/conformance.list"
verdict() {
	(here=$dir share=$dir/share series=$1 && . "$srcdir/tests/lab/conformance.sh" && conformance_verdict knfsd list) | paste -sd '|'
}
same "what a list says of one kernel is known of it" "0 pass, 1 differ as listed, 0 not seen" "$(verdict 6.1)"
same "and of no other one" "differs, and is not in the list: A1-1 RS a thing is so|0 pass, 0 differ as listed, 0 not seen" "$(verdict 6.12)"
tap_end
