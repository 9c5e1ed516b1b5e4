# SPDX-License-Identifier: BSD-3-Clause
# Runs the programs of programs.sh directly and through a proxy, and reports the differences. Needs workload.sh and
# rows.sh.
. "$lab/guest/programs.sh"
programs=(lab dbench bonnie stressors git fio)

# package_of PROGRAM: prints the command that it needs, and its Debian package
package_of() {
	case $1 in
	dbench) echo "dbench dbench" ;;
	bonnie) echo "bonnie++ bonnie++" ;;
	stressors) echo "stress-ng stress-ng" ;;
	git) echo "git git" ;;
	fio) echo "fio fio" ;;
	*) echo "true coreutils" ;;
	esac
}

# community_missing: removes programs that are not installed from `programs`, and reports each as a skip
community_missing() {
	local program command package there=()
	for program in "${programs[@]}"; do
		read -r command package < <(package_of "$program")
		if command -v "$command" >/dev/null; then
			there+=("$program")
		else
			say "skip $program, directly and through proxies # SKIP no Debian package $package here"
		fi
	done
	programs=("${there[@]}")
}

# community_versions: prints the versions of all programs for the record
community_versions() { dpkg-query -W -f '${Package} ${Version}, ' dbench bonnie++ stress-ng git fio 2>/dev/null | sed 's/, $//'; }

# listed PROGRAM VERSION FILE: runs it and writes its list to FILE. A separate shell keeps a failing command from ending
# the row.
listed() {
	local begin=$SECONDS
	(set +e; "done_by_$1" "$2") >"$3"
	echo "$1 took $((SECONDS - begin)) s"
	[ "$(wc -l <"$3")" -ge 2 ] || fail "$1 has no results: $(tail -1 "$3")"
}

# known_out PROGRAM VERSION: reads lines marked "< " (directly) or "> " (through the proxy). Prints those that
# community.known does not explain, and reports the others as remarks. A line of that file is "PROGRAM VERSION |
# extended regular expression of the whole line | reason"; VERSION can be "*".
known_out() {
	local line program version pattern why found
	while IFS= read -r line; do
		found=
		while IFS='|' read -r program pattern why; do
			[[ $program =~ ^[a-z] ]] || continue
			read -r program version <<<"$program"
			pattern=${pattern# } pattern=${pattern% }
			[[ $program = "$1" && ($version = "*" || $version = "$2") && $line =~ ^$pattern$ ]] && found=$why
		done <"${known:-$lab/community.known}"
		if [ -n "$found" ]; then say "# known: $1, $2: $line:$found"; else echo "$line"; fi
	done
}

# no_differences PROGRAM VERSION LIST LIST: both lists are equal, except for known differences
no_differences() {
	local found
	found=$({ diff -a "$3" "$4" || true; } | sed -n '/^[<>] /p' | known_out "$1" "$2")
	[ -n "$found" ] || return 0
	echo "$found"
	echo "$(wc -l <<<"$found") results differ: $(head -3 <<<"$found" | paste -sd ';')"
	return 1
}

# as_directly PROGRAM VERSION SIDE PROXY ADDRESS PORT PROTO: runs the program on a direct mount of the kernel's server,
# and on one through the proxy. At least 256 KiB must have passed the proxy.
as_directly() {
	local program=$1 version=$2 side=$3 proxy=$4 address=$5 port=$6 proto=$7 before after direct=2049
	local second="10.0.2.15 2049 tcp" lists=/run/share/list-$1-$2-$4 mount_by=
	[ "$proto" = tcp ] || direct=20049
	nfs_mount "$version" 10.0.2.15 $direct "$proto"
	[ "$(mount_kind)" = "$proto" ] || fail "asked for $proto, got $(mount_kind)"
	listed "$program" "$version" "$lists.direct"
	umount /mnt/n
	before=$(bytes "$side" "$proxy")
	mount_by="$side $proxy" second="$address $port $proto"
	nfs_mount "$version" "$address" "$port" "$proto"
	[ "$(mount_kind)" = "$proto" ] || fail "asked for $proto, got $(mount_kind)"
	listed "$program" "$version" "$lists.proxy"
	mount_clean
	umount /mnt/n
	after=$(bytes "$side" "$proxy")
	[ $((after - before)) -ge $((256 << 10)) ] || fail "only $((after - before)) bytes went through the proxy"
	no_differences "$program" "$version" "$lists.direct" "$lists.proxy"
	say "# $program: $(wc -l <"$lists.proxy") results, the same directly and through $proxy; $(
		grep -cE ': status [^0]' "$lists.direct" || true) of them failures; $((after - before)) bytes"
}

# The server's side of libnfs's tests, which use these functions and the exported directory. VERSION in the environment
# also has the ports, because the tests put it after "version=" in each URL.
libnfs_functions() {
	cat <<-'FUNCTIONS'
	TESTDIR=$(pwd)/testdata
	VERS=$VERSION
	start_share() { rm -rf "$TESTDIR"; mkdir "$TESTDIR"; }
	stop_share() { rm -rf "$TESTDIR"; }
	success() { echo "[OK]"; }
	failure() { echo "[FAILED]"; exit 1; }
	FUNCTIONS
}

# libnfs_list VERSION ADDRESS QUERY: prints the results of libnfs's own tests, without the error messages of its programs,
# which have random memory after file names (4.0). Omitted are tests under valgrind, which repeat others and would take
# an hour, the RPM build, and tests of timeouts.
libnfs_list() {
	local at=/srv/export/libnfs test status path=/srv/export/libnfs/tests/testdata
	[ "$1" = 3 ] || path=/libnfs/tests/testdata
	rm -rf "$at"
	mkdir -p "$at/tests" "$at/utils"
	cp "$LAB_BUILD"/lab/libnfs/tests/* "$at/tests"
	libnfs_functions >"$at/tests/functions.sh"
	printf '#!/bin/sh\ncase $1 in *\\?*) exec /usr/bin/nfs-ls "$1" ;; esac\nexec /usr/bin/nfs-ls "$1?version=$VERSION"\n' >"$at/utils/nfs-ls"
	chmod +x "$at/utils/nfs-ls"
	for test in "$at"/tests/test_*.sh; do
		case $test in *valgrind* | *_build_rpm* | *_timeout*) continue ;; esac
		{
			status=0
			(cd "$at/tests" && VERSION="$1&$3" TESTURL="nfs://$2$path" with_limit 60 sh "./${test##*/}" 2>&1) || status=$?
			echo "status $status"
		} | sed "s/NFSv$1&[^ ]*/NFSv$1/; s/Failed to .*//; s/^/${test##*/}: /"
	done
	rm -rf "$at"
}

# as_libnfs_directly VERSION PROXY PORT: runs those tests against the kernel's server, and through the proxy, which
# serves MOUNT on the same port.
as_libnfs_directly() {
	local lists=/run/share/list-libnfs-$1-$2 before after
	libnfs_list "$1" 10.0.2.15 "nfsport=2049&mountport=20048" >"$lists.direct"
	before=$(bytes host "$2")
	libnfs_list "$1" 10.0.2.2 "nfsport=$3&mountport=$3" >"$lists.proxy"
	after=$(bytes host "$2")
	[ $((after - before)) -ge $((64 << 10)) ] || fail "only $((after - before)) bytes went through the proxy"
	[ "$(grep -c OK "$lists.direct")" -ge 50 ] || fail "few cases pass directly: $(grep -c OK "$lists.direct")"
	no_differences libnfs "$1" "$lists.direct" "$lists.proxy"
	say "# libnfs, $1: $(grep -c OK "$lists.proxy") cases pass and $(
		grep -c FAILED "$lists.direct" || true) fail, directly and through $2; $((after - before)) bytes"
}

libnfs_rows() {
	local version
	if [ ! -e "$LAB_BUILD/lab/libnfs/tests" ]; then
		say "skip libnfs's own tests # SKIP $(cat "$LAB_BUILD/lab/libnfs/why" 2>/dev/null || echo "no source of libnfs")"
		return
	fi
	host_row filer-rdma tcp://10.0.2.2:2154 iwarp://10.0.2.15:20049 'mount = "rpcbind";'
	for version in 3 4; do
		row "libnfs's own tests, tcp=>iwarp, knfsd over siw, $version: as directly" as_libnfs_directly $version filer-rdma 2154
	done
}
