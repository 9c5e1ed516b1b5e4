#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests how tests/lib/root.sh makes and shares roots of Debian releases, with a test mmdebstrap and apt-config, which
# need neither a network nor privileges.
set -u
: "${srcdir:=.}"
srcdir=$(cd "$srcdir" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$srcdir/tests/lib/tap.sh"
. "$srcdir/tests/lib/time_limit.sh"
export WORK=$work ROOTS=$work/roots PATH=$work/bin:$PATH
unset ROOT_DEADLINE
. "$srcdir/tests/lib/root.sh"

# ---------------------------------------------------------------- the machine

# stub NAME: makes a program of the machine from standard input
mkdir "$work/bin"
stub() { { echo '#!/bin/bash'; cat; } >"$work/bin/$1" && chmod +x "$work/bin/$1"; }
stub unshare <<-'END'
	while [[ $1 = -* || $1 = private ]]; do shift; done
	exec "$@"
END
stub apt-config <<-'END'
	printf '%s\n' 'APT::Architecture "amd64";' 'Acquire::http::Proxy "http://cache.example.net:3142";'
END
# It puts a file into the root, and then runs $WORK/does.
stub mmdebstrap <<-'END'
	echo "$@" >>"$WORK/calls"
	mkdir "${@: -1}" && echo $$ >"${@: -1}/made" || exit
	. "$WORK/does"
END
does() { cat >"$work/does"; }
calls() { wc -l <"$work/calls"; }
fresh() { rm -rf "$ROOTS" "$work/calls" "$work/begun"; : >"$work/calls"; does </dev/null; }
# makes NAME [PACKAGE]...: runs root_make in a separate process, whose locks end with it; $work/NAME.said has its output
makes() { local name=$1; shift; (root_make trixie gcc "$@") >"$work/$name.said" 2>&1; }
root=$(root_of trixie gcc)
fails() { ! "$@"; }
aged() { touch -d "31 days ago" "$@"; }

# ---------------------------------------------------------------- one run

fresh
check "a root is made" makes a
check "and is complete" root_is_made "$root"
check "it has the settings by which this machine reaches packages" \
	grep -qF -- '--aptopt=Acquire::http::Proxy "http://cache.example.net:3142";' "$work/calls"
check "and no others" fails grep -q 'APT::Architecture' "$work/calls"
check "a second time it is there" makes a
same "and was not made again" 1 "$(calls)"
check "other packages have another root" makes a make
same "which is made" 2 "$(calls)"

aged "$root/.complete"
check "a root that is 31 days old is made again" makes a
same "by mmdebstrap" 3 "$(calls)"
aged "$root/.complete"
(
	exec {used}<"$root.lock" && flock -s "$used" && makes a
)
same "not if another run uses it" "0 3" "$? $(calls)"

touch "$root/.complete"
aged "$root.lock" "$root/.complete"
makes b bison
check "a root that no run has used for 31 days is removed" fails test -e "$root"
makes a
aged "$root.lock"
(exec {used}<"$root.lock" && flock -s "$used" && makes b binutils)
check "not if a run uses it" root_is_made "$root"

# ---------------------------------------------------------------- it fails

# failing WHAT EXCUSE: mmdebstrap prints WHAT and fails
failing() {
	fresh
	does <<<"echo '$1' >&2; exit 1"
	check "$1: there is no root" fails makes a
	check "$1: half of it does not stay" fails test -e "$root"
	same "$1: why it is skipped" "$2" "$(root_excuse "$work/a.said")"
}
failing "Temporary failure resolving" "Debian's packages cannot be fetched"
failing "Network is unreachable" "Debian's packages cannot be fetched"
failing "NO_PUBKEY 0E98404D386FA1D9" "debian-archive-keyring of this machine lacks the keys of that release"
failing "Unable to locate package gcc" ""

# hung: mmdebstrap runs until it is ended
hung() { does <<<'echo $$ >"$WORK/begun"; exec sleep 1000'; }
begun() { [ -s "$work/begun" ]; }
ended() { ! kill -0 "$(<"$work/begun")" 2>/dev/null; }
fresh
hung
check "what takes longer than a run has time for fails" fails eval 'ROOT_DEADLINE=$((EPOCHSECONDS + 2)); makes a'
check "mmdebstrap has ended" wait_for 10 ended
check "half of the root does not stay" fails test -e "$root"
same "that is why it is skipped" "the time was over before its packages were installed" \
	"$(ROOT_DEADLINE=$EPOCHSECONDS; root_excuse "$work/a.said")"

# ---------------------------------------------------------------- a killed run

fresh
hung
set -m
makes a &
group=$!
set +m
check "a run makes a root" wait_for 10 begun
kill -KILL -- -$group
check "it is killed" wait_for 10 ended
{ wait $group; } 2>/dev/null
half=$(cat "$root/made")
check "it leaves half a root" test -n "$half"
check "which is not complete" fails root_is_made "$root"
does </dev/null
check "the next run makes a root" makes a
check "a complete one" root_is_made "$root"
check "and nothing of the half is in it" fails grep -qx "$half" "$root/made"

# ---------------------------------------------------------------- two runs

fresh
does <<<'echo $$ >"$WORK/begun"; read -r <"$WORK/go"'
mkfifo "$work/go"
makes a &
a=$!
check "a first run makes a root" wait_for 10 begun
makes b &
b=$!
echo go >"$work/go"
wait $a
same "it succeeds" 0 $?
wait $b
same "a second one, at the same time, succeeds too" 0 $?
same "mmdebstrap ran once" 1 "$(calls)"

# ---------------------------------------------------------------- where roots are

same "without HOME they are in root's" /root/.cache/rpcrdma-proxy \
	"$(env -u HOME -u XDG_CACHE_HOME -u ROOTS bash -c '. "$1"; echo "$ROOTS"' - "$srcdir/tests/lib/root.sh")"
# place DIR: prints the directory of roots for DIR
place() { ROOTS=$1; root_place "$work/other"; echo "$ROOTS"; }
same "a directory that is not there yet is made" "$work/new/roots" "$(place "$work/new/roots")"
same "one that cannot be made is replaced" "$work/other" "$(place "$work/calls/roots")"
mkdir "$work/readonly"
if PATH=${PATH#*:} unshare -m mount -t tmpfs -o ro tmpfs "$work/readonly" 2>/dev/null; then
	same "one on a read-only file system is replaced" "$work/other" "$(export -f root_place place; export work
		PATH=${PATH#*:} unshare -m bash -c 'mount -t tmpfs -o ro tmpfs "$work/readonly"; place "$work/readonly"')"
else
	ok "one on a read-only file system is replaced # SKIP mounts need root"
fi

# ---------------------------------------------------------------- the real mmdebstrap, without a network

rm "$work/bin/unshare" "$work/bin/mmdebstrap"
hash -r
fresh
stub apt-config <<<"echo 'Acquire::Retries \"0\";'"
if unshare -n true 2>/dev/null && command -v mmdebstrap >/dev/null; then
	same "without a network there is no root, for that reason" "Debian's packages cannot be fetched" \
		"$(unshare -n bash -c '. "$1"; root_make trixie mount >"$2" 2>&1 || root_excuse "$2"' - \
			"$srcdir/tests/lib/root.sh" "$work/a.said")"
else
	ok "without a network there is no root, for that reason # SKIP it needs root and mmdebstrap"
fi

# ---------------------------------------------------------------- release.sh

mkdir "$work/poor"
for tool in bash dirname id; do ln -s "$(PATH=${PATH#*:} command -v $tool)" "$work/poor/$tool"; done
same "without mmdebstrap each step is skipped" "ok 1 - demo on Debian 13 # SKIP mmdebstrap is not installed
ok 2 - tests on Debian 13 # SKIP mmdebstrap is not installed
1..2" "$(PATH=$work/poor "$work/poor/bash" "$srcdir/tests/package/release.sh" "$work" 13 demo tests)"
release_status() { "$srcdir/tests/package/release.sh" "$@" 2>/dev/null; echo $?; }
eval "$(sed -n '/^numbered()/,/^}/p' "$srcdir/tests/package/release.sh")"
same "the cases of several steps are numbered as those of one" "ok 1 - a
not ok 2 - b
# why
ok 3 - c # SKIP d
1..3" "$(printf '%s\n' "ok 1 - a" "not ok 0 - b" "# why" 1..2 "ok 1 - c # SKIP d" | numbered)"
check "a failed case fails all" fails numbered <<<"not ok 1 - a"
check "and so does a run without a case" fails numbered </dev/null
same "a release that is not supported is rejected" 2 "$(release_status "$work" 11)"
same "and so is a step that there is not, before a root is made for it" 2 "$(release_status "$work" 13 dmeo)"
same "and so is a limit that is no number" 2 "$(release_status -t soon "$work" 13)"
tap_end
