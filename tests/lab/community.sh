#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests how guest/community.sh compares two lists of results: a result in only one list is a failure, unless it is a
# known difference. TAP.
set -u
: "${srcdir:=.}" "${builddir:=.}"
. "$srcdir/tests/lib/tap.sh"
lab=$srcdir/tests/lab
. "$lab/guest/differences.sh"
dir=$(mktemp -d) || exit 1
trap 'rm -r "$dir"' EXIT
known=$dir/known
say() { echo "$*" >&2; }

# judged PROGRAM VERSION DIRECTLY PROXY: prints the comparison of the two lists, and its status
judged() {
	printf '%b' "$3" >"$dir/directly"
	printf '%b' "$4" >"$dir/proxy"
	no_differences "$1" "$2" "$dir/directly" "$dir/proxy" 2>&1 | paste -sd '|'
	echo "${PIPESTATUS[0]}"
}

echo "stressors 3 | > xattr: status [23] | the server has none" >"$known"
same "two lists that are the same pass" "|0" "$(judged git 3 'a\nb\n' 'a\nb\n' | paste -sd '|')"
same "a result that is only direct fails, and is printed" "< b|1 results differ: < b|1" "$(judged git 3 'a\nb\n' 'a\n' | paste -sd '|')"
same "what is only through the proxy fails" "> b|1 results differ: > b|1" "$(judged git 3 'a\n' 'a\nb\n' | paste -sd '|')"
same "another result of one case is two lines that differ" "< a: status 0|> a: status 1|2 results differ: < a: status 0;> a: status 1|1" \
	"$(judged git 3 'a: status 0\n' 'a: status 1\n' | paste -sd '|')"
same "bytes that are no text hide nothing" "< b|1 results differ: < b|1" "$(judged git 3 'a\0\nb\n' 'a\0\n' | paste -sd '|')"
same "a known difference passes, and is printed" "# known: stressors, 3: > xattr: status 2: the server has none|0" \
	"$(judged stressors 3 'a\n' 'a\nxattr: status 2\n' | paste -sd '|')"
same "of another version it is not known" "> xattr: status 2|1 results differ: > xattr: status 2|1" \
	"$(judged stressors 4.2 'a\n' 'a\nxattr: status 2\n' | paste -sd '|')"
same "nor of another program" "> xattr: status 2|1 results differ: > xattr: status 2|1" \
	"$(judged git 3 'a\n' 'a\nxattr: status 2\n' | paste -sd '|')"
same "nor as a part of a line" "> xattr: status 21|1 results differ: > xattr: status 21|1" \
	"$(judged stressors 3 'a\n' 'a\nxattr: status 21\n' | paste -sd '|')"

# Numbers that differ between runs are ignored; words are not.
same "complaints are compared without numbers" "fail: [N] open of N failed, errno=N (No space)" \
	"$(printf 'fail:  [12] open of 0x1f failed, errno=28 (No space)\nfail: [13] open of 0x2a failed, errno=28 (No space)\n' | plain)"

# Replaces what run.sh needs before it enters its namespaces, on machines that do not permit namespaces.
mkdir -p "$dir/bin" "$dir/build/daemon/ctl"
for program in $(sed -n 's/^[[:space:]]*need \([^ ]*\) .*/\1/p' "$lab/run.sh") unshare; do
	printf '#!/bin/sh\n[ "${0##*/}" != unshare ]\n' >"$dir/bin/$program"
	chmod +x "$dir/bin/$program"
done
cp "$dir/bin/make" "$dir/build/daemon/rpcrdma-proxy"
cp "$dir/bin/make" "$dir/build/daemon/ctl/rpcrdma-proxyctl"
# begun ARGUMENT...: prints the output of run.sh
begun() { env -u LAB_OUT -u LAB_INSIDE PATH="$dir/bin:$PATH" LAB_LIBNFS="$dir/none" "$lab/run.sh" --build "$dir/build" "$@" 2>&1 | tail -1; }
begins="ok 1 - laboratory # SKIP unshare is not allowed here"
same "the full tier begins" "$begins" "$(begun --full)"
same "so does the guest of these programs by itself" "$begins" "$(begun community)"
check "libnfs's own tests, or why there are none, are where the guests of all kernels look" [ -s "$dir/build/lab/libnfs/why" ]

# wrong ARGUMENT...: prints the status and the first line of an error of run.sh
wrong() { local said; said=$("$lab/run.sh" --options-only "$@" 2>&1); echo "$? $(head -1 <<<"$said")"; }
same "an unknown guest is reported before anything runs" "2 run.sh: nobody: there is no such guest" "$(wrong --full nobody)"
same "a file that guests have in common is none" "2 run.sh: lib: there is no such guest" "$(wrong lib)"
same "nor is a kernel that is not there" "2 run.sh: 5.10: there is no such kernel: 6.1 6.12" "$(wrong --kernel 5.10)"
same "what is right passes" "0 " "$(wrong --full --kernel 6.12 verbs)"

# Without a kernel run.sh boots nothing, but it enters its namespaces and writes a record.
mkdir -p "$dir/copy/tests"
cp -r "$srcdir/tests/lab" "$srcdir/tests/lib" "$dir/copy/tests"
echo "the record" >"$dir/copy/tests/lab/RESULTS.md"
rm "$dir/bin/unshare"
cp "$dir/bin/make" "$dir/bin/ip"
# recorded ARGUMENT...: prints the lines of each record that run.sh has written
recorded() {
	env -u LAB_OUT -u LAB_INSIDE PATH="$dir/bin:$PATH" XDG_CACHE_HOME="$dir/none" KERNEL_INSTALLED="$dir/none" LAB_LIBNFS="$dir/none" \
		"$dir/copy/tests/lab/run.sh" --build "$dir/build" "$@" >"$dir/said" 2>&1
	echo "$(cat "$dir/copy/tests/lab/RESULTS.md"), $(grep -c '^| all its rows ' "$dir/build/lab/RESULTS.md")"
}
if unshare --net --mount --uts --ipc --pid --fork --kill-child --mount-proc true 2>/dev/null; then
	same "a run without a kernel keeps the record, and writes another one next to the logs" "the record, 1" "$(recorded --full)"
	rm -f "$dir/build/lab/RESULTS.md"
	same "so does one of a single guest" "the record, 1" "$(recorded --full verbs)"
else
	ok "a run of less than everything leaves the record # SKIP unshare is not allowed here"
fi

check "each known difference has three fields" awk -F'|' '/^[a-z]/ && NF != 3 { print; bad = 1 } END { exit bad }' "$lab/community.known"
tap_end
