#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What ./dev installs, and what it leaves behind: on a machine that is a folder, by an apt-get, a dpkg-query and a
# systemctl that know that folder alone.
set -u
: "${srcdir:=.}"
dev=$srcdir/dev
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$srcdir/tests/lib/tap.sh"

# ---------------------------------------------------------------- the machine

# stub NAME: a program of the machine, whose text is standard input
stub() { { echo '#!/bin/bash'; cat; } >"$work/bin/$1" && chmod +x "$work/bin/$1"; }

machine() {
	rm -rf "$work/m" && mkdir -p "$work/m" "$work/bin"
	: >"$work/m/packages"
	echo ssh.service >"$work/m/enabled"
}

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
# Units come with their packages, as Debian's do, and start at once where no policy forbids it.
stub apt-get <<-'END'
	[ -e "$MACHINE/apt-fails" ] && [ "$2" != update ] && failing=1
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

# dev_does COMMAND...: with the functions of ./dev, on the machine
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
same "they are a dozen at most, without any server or test among them" \
	"autoconf automake build-essential libconfig-dev libevent-dev libibverbs-dev libisal-dev libjansson-dev librdmacm-dev libsystemd-dev pkg-config systemtap-sdt-dev" \
	"$(packages)"
same "what starts with the machine is what did" "ssh.service" "$(enabled)"
same "./dev build asks for these alone" "install_build" \
	"$(sed -n '/^command_build()/,/^}/p' "$dev" | grep -o 'install_[a-z]*' | xargs)"
check "a second time nothing is installed" eval \
	"before=\$(packages); dev_does install_build && [ \"\$(packages)\" = \"\$before\" ]"

# ---------------------------------------------------------------- ./dev demo, test, hostile

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
check "it is told if packages cannot be installed" eval "! dev_does install_test"
same "then too none starts with the machine" "ssh.service" "$(enabled)"
check "and the policy is gone" gone "$MACHINE/policy-rc.d"

tap_end
