#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libnfs.sh DIR: builds libnfs's own tests in DIR/tests, with the installed libnfs. The source is Debian's package,
# fetched by apt from this machine's mirror without a deb-src line, or an unpacked source named by LAB_LIBNFS=SOURCE. If
# neither is available, DIR/why has the reason, and DIR/tests does not exist.
set -uo pipefail
mkdir -p "$1"
dir=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
version=$(dpkg-query -W -f '${Version}' libnfs-dev 2>/dev/null)
stamp="$version ${LAB_LIBNFS:-} $(sha256sum <"$here/libnfs.sh")"
[ -e "$dir/tests" ] && [ "$(cat "$dir/stamp" 2>/dev/null)" = "$stamp" ] && exit 0
rm -rf "${dir:?}"/*

cannot() {
	echo "$*" >"$dir/why"
	echo "libnfs.sh: $*" >&2
	exit 0
}
[ -n "$version" ] || cannot "no Debian package libnfs-dev here"

# fetch: fetches the source package into $dir/source, with separate apt lists
fetch() {
	local apt lists=$dir/apt file
	mkdir -p "$lists"/{lists,archives}/partial "$lists/sources"
	[ ! -e /etc/apt/sources.list.d/debian.sources ] ||
		sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$lists/sources/debian.sources"
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.list; do
		[ ! -e $file ] || sed -n 's/^deb /deb-src /p' $file >>"$lists/sources/debian.list"
	done
	apt=(apt-get -q -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$lists/sources" -o "Dir::State::lists=$lists/lists"
		-o "Dir::Cache=$lists" -o "APT::Sandbox::User=root" -o "Acquire::Retries=1")
	"${apt[@]}" update >"$dir/apt.log" 2>&1 && (cd "$lists" && "${apt[@]}" --download-only source "libnfs=$version" >>"$dir/apt.log" 2>&1) &&
		dpkg-source --no-check -x "$lists"/libnfs_*.dsc "$dir/source" >>"$dir/apt.log" 2>&1
}

source=${LAB_LIBNFS:-}
if [ -z "$source" ]; then
	fetch || cannot "Debian's source package libnfs $version cannot be had: $(grep -E '^(E|Err|dpkg-source)' "$dir/apt.log" | head -1)"
	source=$dir/source
fi
[ -e "$source/tests/functions.sh" ] || cannot "no tests/functions.sh in $source"
mkdir "$dir/new"
for program in "$source"/tests/prog_*.c; do
	name=$(basename "$program" .c)
	# They wait 0.3 s for a Reply, which is too short in an emulated machine.
	sed 's/nfs_set_timeout(nfs, [0-9]*)/nfs_set_timeout(nfs, 120000)/' "$program" >"$dir/$name.c"
	gcc -w -O1 -D_GNU_SOURCE '-D_U_=__attribute__((unused))' -I/usr/include/nfsc -o "$dir/new/$name" "$dir/$name.c" -lnfs 2>"$dir/gcc.log" ||
		cannot "$name does not build: $(grep -m1 error "$dir/gcc.log")"
done
cp "$source"/tests/test_*.sh "$dir/new"
mv "$dir/new" "$dir/tests"
echo "$stamp" >"$dir/stamp"
