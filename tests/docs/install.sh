#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The installed files fit together: unit, programs and manual name one configuration file, and systemd accepts the unit.
set -u
: "${srcdir:=.}" "${builddir:=.}"
unit=$builddir/systemd/rpcrdma-proxy.service
man=$builddir/man
. "$srcdir/tests/lib/tap.sh"

# make sets these from configure; by hand the values of the unit are used.
if [ -z "${sysconfdir:-}" ]; then
	sysconfdir=$(sed -n 's,^ExecStart=.* -c \(.*\)/rpcrdma-proxy\.conf$,\1,p' "$unit")
fi
file=$sysconfdir/rpcrdma-proxy.conf

same "the unit starts the daemon with the file of sysconfdir" "$file" \
	"$(sed -n 's/^ExecStart=.* -c //p' "$unit")"
same "the daemon reads that file by default" "$file" \
	"$("$builddir/daemon/rpcrdma-proxy" -h | sed -n 's/^  -c.*(\(.*\)).*/\1/p')"
same "rpcrdma-proxy(8) names that file alone" "$file" \
	"$(grep -o '[^ ]*/rpcrdma-proxy\.conf' "$man/rpcrdma-proxy.8" | sort -u)"
same "rpcrdma-proxy.conf(5) names that file alone" "$file" \
	"$(grep -o '[^ ]*/rpcrdma-proxy\.conf' "$man/rpcrdma-proxy.conf.5" | sort -u)"
same "rpcrdma-proxyctl(8) names no other" "" \
	"$(grep -o '[^ ]*/rpcrdma-proxy\.conf' "$man/rpcrdma-proxyctl.8" | grep -vxF "$file")"
same "the file as installed names no other" "" \
	"$(grep -o '[^ ]*/rpcrdma-proxy\.conf' "$srcdir/conf/rpcrdma-proxy.conf" | grep -vxF "$file")"
same "nothing that is installed has a place left to fill in" "" \
	"$(grep -l '@[a-z]*dir@' "$unit" "$man"/*.[58])"

cat >"${TMPDIR:-/tmp}/install.$$.conf" <<-END
	services = ( { name = "a"; listen = "tcp://127.0.0.1:2049"; connect = "tcp://127.0.0.1:2050"; source = "client"; } );
END
same "the daemon names the drop-in where the manual does" "$(grep -o '[^ ]*/source-client\.conf' "$man/rpcrdma-proxy.conf.5")" \
	"$("$builddir/daemon/rpcrdma-proxy" -t -c "${TMPDIR:-/tmp}/install.$$.conf" 2>/dev/null | grep -o '[^ ]*/source-client\.conf')"
rm -f "${TMPDIR:-/tmp}/install.$$.conf"

for example in contrib/grafana/rpcrdma-proxy.json contrib/prometheus/rpcrdma-proxy.rules.yml; do
	same "${example##*/} is installed as an example" "$example" \
		"$(sed -n 's/^examples_DATA = //p' "$srcdir/systemd/local.mk" | tr ' ' '\n' | grep -xF "$example")"
done

# setting NAME: prints its value in the unit
setting() { sed -n "s/^$1=//p" "$unit"; }

same "the unit's RuntimeDirectory is where the control socket is" "/run/$(setting RuntimeDirectory)/control.sock" \
	"$(sed -n 's/.*default \(.*control\.sock\).*/\1/p' "$man/rpcrdma-proxy.conf.5")"
# figure FILE NAME: prints the number that FILE defines as NAME
figure() { sed -n "s/^#define $2 *\([0-9]*\)u.*/\1/p" "$srcdir/$1"; }
drain=$(sed -n '/^\.It Va drain_timeout_s/s/.*default \([0-9]*\).*/\1/p' "$man/rpcrdma-proxy.conf.5")
same "the unit gives a stop as long as the daemon says that it can take" "$((drain + $(figure daemon/proxy/proxy.h PROXY_STOP_S)))s" \
	"$(setting TimeoutStopSec)"
same "systemd never gives the daemon up" "0" "$(setting StartLimitIntervalSec)"
same "systemd restarts it, except after exit statuses for which the manual excludes that" \
	"$(sed -n '/^\.Sh EXIT STATUS/,/^\.Sh DIAG/s/^\.It \(64\|78\)$/\1/p' "$man/rpcrdma-proxy.8" | xargs)" \
	"$(setting RestartPreventExitStatus)"

same "the unit reloads by the client where it is installed" \
	"$(setting ExecStart | sed 's,/rpcrdma-proxy .*,,')/rpcrdma-proxyctl" "$(setting ExecReload | cut -d' ' -f1)"

# The unit with an existing program, because this build is not installed.
verify() {
	local dir said

	dir=$(mktemp -d)
	sed 's,^\(Exec[A-Za-z]*\)=[^ ]*,\1=/bin/true,; /^Documentation=/d' "$unit" >"$dir/rpcrdma-proxy.service"
	mkdir "$dir/rpcrdma-proxy.service.d" && cp "$srcdir/systemd/source-client.conf" "$dir/rpcrdma-proxy.service.d"
	said=$(systemd-analyze verify --man=no "$dir/rpcrdma-proxy.service" 2>&1 | grep -F rpcrdma-proxy)
	rm -r "$dir"
	same "systemd-analyze verify finds nothing wrong in the unit and its drop-in" "" "$said"
}
if command -v systemd-analyze >/dev/null; then
	verify
else
	ok "systemd-analyze verify # SKIP systemd-analyze is not installed"
fi

tap_end
