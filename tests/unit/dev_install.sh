#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests what ./dev installs and leaves, in a directory instead of a machine, with an apt-get, a dpkg-query and a
# systemctl that know only this directory.
set -u
: "${srcdir:=.}"
dev=$srcdir/dev
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$srcdir/tests/lib/tap.sh"
. "$srcdir/tests/lib/time_limit.sh"

# ---------------------------------------------------------------- the machine

# stub NAME: makes a program of the machine from standard input
stub() { { echo '#!/bin/bash'; cat; } >"$work/bin/$1" && chmod +x "$work/bin/$1"; }

machine() {
	rm -rf "$work/m" && mkdir -p "$work/m" "$work/bin"
	: >"$work/m/packages"
	echo ssh.service >"$work/m/enabled"
}

# ./dev test runs this test, and has another DEV_RUN: these scripts stop only their own processes.
export DEV_RUN=install$$
export MACHINE=$work/m
machine
stub sudo <<-'END'
	shift # -n
	exec "$@"
END
stub debconf-set-selections <<-'END'
	cat >/dev/null
END
stub dpkg-query <<-'END'
	grep -qxF "${@: -1}" "$MACHINE/packages" && printf installed
END
# Units come with their packages, as Debian's do, and start immediately unless a policy forbids it.
stub apt-get <<-'END'
	[ "$2" != update ] || exit 0
	case " $* " in *" --download-only "*)
		echo "$@" >>"$MACHINE/downloads"
		[ ! -e "$MACHINE/network-hangs" ] || exec sleep 1000
		exit
	esac
	[ -e "$MACHINE/apt-fails" ] && failing=1
	for word; do
		case $word in
		-* | install | update) continue ;;
		nfs-ganesha) echo nfs-ganesha.service >>"$MACHINE/enabled" ;;
		rpcbind) printf 'rpcbind.service\nrpcbind.socket\n' >>"$MACHINE/enabled" ;;
		haproxy) echo haproxy.service >>"$MACHINE/enabled" ;;
		krb5-kdc) echo krb5-kdc.service >>"$MACHINE/enabled" ;;
		esac
		[ -x "$MACHINE/policy-rc.d" ] && ! "$MACHINE/policy-rc.d" || echo "$word" >>"$MACHINE/started"
		echo "$word" >>"$MACHINE/packages"
	done
	sort -u -o "$MACHINE/enabled" "$MACHINE/enabled"
	exit "${failing:-0}"
END
stub systemctl <<-'END'
	case " $* " in
	*" list-unit-files "*) sed 's/$/ enabled enabled/' "$MACHINE/enabled" ;;
	*" disable "*) sed -i "/^${@: -1}\$/d" "$MACHINE/enabled" ;;
	*) exit 1 ;;
	esac
END

# dev_does COMMAND...: runs it with the functions of ./dev, on the machine
dev_does() {
	(
		PATH=$work/bin:$PATH
		. "$dev"
		policy=$MACHINE/policy-rc.d
		"$@"
	)
}

packages() { sort "$MACHINE/packages" | xargs; }
enabled() { sort "$MACHINE/enabled" | xargs; }
gone() { [ ! -e "$1" ]; }

# ---------------------------------------------------------------- ./dev build

check "the packages of ./dev build are installed" dev_does install_build
same "no server or test is among them" \
	"autoconf automake build-essential libconfig-dev libevent-dev libibverbs-dev libisal-dev libjansson-dev librdmacm-dev libssl-dev libsystemd-dev pkg-config systemtap-sdt-dev" \
	"$(packages)"
same "what starts with the machine is what did" "ssh.service" "$(enabled)"
same "./dev build asks for these alone" "install_build" \
	"$(sed -n '/^command_build()/,/^}/p' "$dev" | grep -o 'install_[a-z]*' | xargs)"
check "a second time nothing is installed" eval \
	"before=\$(packages); dev_does install_build && [ \"\$(packages)\" = \"\$before\" ]"

# ---------------------------------------------------------------- ./dev demo

# release ID VERSION_ID: sets the release of this machine
release() { printf 'PRETTY_NAME="A system"\nID=%s\nVERSION_ID="%s"\n' "$1" "$2" >"$MACHINE/os-release"; }

# demo_does COMMAND...: as dev_does; only the programs and libraries of the lists exist
demo_does() {
	DEBIAN_OS_RELEASE=$MACHINE/os-release dev_does eval '
		if [ -e "$MACHINE/programs" ]; then
			command() { [ "$1" = -v ] && grep -qxF "$2" "$MACHINE/programs" && echo "$2"; }
			pkg-config() { grep -qxF "${@: -1}" "$MACHINE/programs"; }
		fi
		'"$*"
}
fails_with() { local said; said=$(demo_does "$1" 2>&1); [ $? = 1 ] && [ "$said" = "$2" ] || { echo "$said"; false; }; }

machine
release debian 12
dev_does install_build >/dev/null
build=$(packages)
check "the packages of ./dev demo are installed" demo_does install_demo
same "in addition to those of the build they are a C compiler, an NFS server, an NFS client, and tools for namespaces" \
	"gcc iproute2 libc6-dev libnfs-dev libnfs-utils make mount netbase nfs-ganesha nfs-ganesha-vfs rpcbind util-linux" \
	"$(comm -13 <(tr ' ' '\n' <<<"$build") <(tr ' ' '\n' <<<"$(packages)") | xargs)"
same "none of them starts with the machine" "ssh.service" "$(enabled)"
check "nor was one started" gone "$MACHINE/started"
same "./dev demo asks for these alone" "install_demo" \
	"$(sed -n '/^command_demo()/,/^}/p' "$dev" | grep -o 'install_[a-z]*' | xargs)"
machine
release debian 13
check "on Debian 13 too" demo_does install_demo
check "where they are the same" grep -qx nfs-ganesha "$MACHINE/packages"

for system in "debian 11" "fedora 43" "ubuntu 24.04"; do
	machine
	release $system
	printf '%s\n' apt-get dpkg-query autoreconf pkg-config make cc rpcbind ip ss unshare nsenter mount \
		libevent_core libevent_extra libconfig libsystemd libibverbs librdmacm libisal jansson openssl >"$MACHINE/programs"
	check "$system: one line says what is missing" fails_with install_demo \
		"dev: the demo needs ganesha.nfsd nfs-cp libnfs: install them (on Debian 12 (bookworm) and 13 (trixie) ./dev demo does)"
	same "$system: nothing is installed" "" "$(packages)"
	printf '%s\n' ganesha.nfsd nfs-cp libnfs >>"$MACHINE/programs"
	check "$system: with all of that it continues" demo_does install_demo
	same "$system: then too nothing is installed" "" "$(packages)"
done
same "the packages of the build have all libraries that configure asks for" \
	"$(sed -n '/^# What ships/,/^# What the tests need/s/^PKG_CHECK_MODULES([^,]*, *\[\([^]]*\)\].*/\1/p' "$srcdir/configure.ac" |
		sed 's/>= *[0-9.]*//g' | xargs -n 1 | sort | xargs)" \
	"$(dev_does eval 'printf "%s\n" "${demo_libraries[@]}"' | sort | xargs)"

check "--help describes the demo and --verbose" grep -q -e '--verbose' <("$dev" demo --help)
refuses() { "$@" >/dev/null 2>&1; [ $? = 2 ]; }
check "another command has no --verbose" refuses "$dev" build --verbose
check "the demo has no other option" refuses "$dev" demo --full
check "nor anything behind --verbose" refuses "$dev" demo --verbose extra
machine
release debian 12
check "an ordinary user immediately gets the message that the demo needs root" fails_with "id() { echo 1000; }; command_demo" \
	"dev: the demo needs root: run it as root or with sudo"
same "and nothing is installed" "" "$(packages)"

# ---------------------------------------------------------------- the releases

check "./dev says which systems are supported" grep -qF "Supported systems: Debian 12 (bookworm) and 13 (trixie)." <("$dev" --help)
# kernel_source ID VERSION_ID: prints what the laboratory installs there
kernel_source() {
	release "$@"
	DEBIAN_OS_RELEASE=$MACHINE/os-release dev_does eval 'printf "%s\n" "${lab_packages[@]}"' | grep '^linux-source'
}
same "the laboratory has the kernel's source of Debian 12" "linux-source-6.1" "$(kernel_source debian 12)"
same "and that of Debian 13" "linux-source-6.12" "$(kernel_source debian 13)"
same "where the release is another one, the oldest one's" "linux-source-6.1" "$(kernel_source fedora 43)"
# Debian's testing and unstable have no number.
printf 'ID=debian\n' >"$MACHINE/os-release"
same "a Debian without a number is none of them, which is no mistake to complain of" "1" \
	"$(DEBIAN_OS_RELEASE=$MACHINE/os-release dev_does eval 'debian_release 2>&1; echo $?' | xargs)"
# others ID VERSION_ID: prints the releases on which ./dev test runs the demo there
others() { release "$@"; DEBIAN_OS_RELEASE=$MACHINE/os-release dev_does other_releases | xargs; }
same "./dev test on Debian 12 tries the demo on 13" "13" "$(others debian 12)"
same "and on Debian 13 on 12" "12" "$(others debian 13)"
same "elsewhere on both" "12 13" "$(others fedora 43)"

# ---------------------------------------------------------------- who may not install, and where

machine
release debian 12
# says COMMAND: prints its message for an ordinary user without sudo
without_sudo() { dev_does eval 'id() { echo 1000; }; command() { [ "$2" != sudo ] && builtin command "$@"; }; '"$1" 2>&1; }
same "an ordinary user without sudo gets one line with the packages to install" \
	"dev: needs root or sudo to install python3 tmux" "$(without_sudo 'install_packages python3 tmux')"
same "and nothing is installed" "" "$(packages)"
same "on another system one line says how to build" \
	'dev: installs packages on Debian only: elsewhere install them by hand, and build as README.md says under "Install it"' \
	"$(dev_does eval 'command() { [ "$2" != dpkg-query ] && builtin command "$@"; }; install_build' 2>&1)"

# ---------------------------------------------------------------- ./dev lab

# lab_does ARGUMENT...: prints the long steps of ./dev lab, one per line, and its status
lab_does() {
	dev_does eval 'install_lab() { echo installs; }; install_packages() { :; }; say() { :; }
		run() { [ "${1##*/}" != run.sh ] || echo "runs ${*:4}"; }; '"(main lab $*) 2>/dev/null; echo \$?" | paste -sd '|'
}
same "all that is behind ./dev lab goes to the laboratory" "installs|runs --full --kernel 6.12 verbs|0" \
	"$(lab_does --full --kernel 6.12 verbs)"
same "a mistake is reported before anything is installed and built" "2" "$(lab_does verbz)"
check "--help works at any place of the command line" grep -q '^usage: ./dev lab' <("$dev" lab verbs --help)

# ---------------------------------------------------------------- ./dev test, hostile

machine
check "the packages of ./dev test are installed" dev_does install_test
check "there are servers among them" grep -qx nfs-ganesha "$MACHINE/packages"
same "none of them starts with the machine" "ssh.service" "$(enabled)"
check "nor was one started" gone "$MACHINE/started"
check "the policy is gone again" gone "$MACHINE/policy-rc.d"

machine
echo rpcbind.socket >>"$MACHINE/enabled"
printf '#!/bin/sh\nexit 101 # own\n' >"$MACHINE/policy-rc.d"
chmod +x "$MACHINE/policy-rc.d"
check "the packages are installed where some are there, and a policy" dev_does install_test krb5-kdc
same "what was enabled before still is" "rpcbind.socket ssh.service" "$(enabled)"
check "the policy is the machine's own still" grep -q own "$MACHINE/policy-rc.d"

machine
touch "$MACHINE/apt-fails"
check "it fails if packages cannot be installed" eval "! dev_does install_test"
same "then too none starts with the machine" "ssh.service" "$(enabled)"
check "and the policy is gone" gone "$MACHINE/policy-rc.d"

# interrupted: TERM arrives during the download of packages
interrupted() {
	local pid

	DEV_RUN=install$$ PATH=$work/bin:$PATH bash -c '. "$1"; policy=$MACHINE/policy-rc.d; install_test; echo went on' \
		sh "$dev" >"$work/said" 2>&1 &
	pid=$!
	wait_for 60 test -s "$MACHINE/downloads" || return
	kill -TERM $pid
	wait $pid
	[ $? = 143 ] && [ ! -e "$MACHINE/policy-rc.d" ] && [ -z "$(packages)" ] && ! grep 'went on' "$work/said"
}
machine
touch "$MACHINE/network-hangs"
check "TERM ends a download, and nothing is installed" interrupted

tap_end
