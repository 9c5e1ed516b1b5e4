# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Clients and servers of RPC-with-TLS by Python's ssl, and services that use TLS. Source it after lib.sh.
. "$E2E_SRC/../lib/certificates.sh"

command -v openssl >/dev/null || skip_all "openssl is not installed"
python3 -c 'import ssl; assert ssl.HAS_TLSv1_3' 2>/dev/null || skip_all "Python has no TLS 1.3"

# The client trusts the authority ca.
tls_client() { with_limit 240 python3 -B "$E2E_SRC/tls_client.py" --ca ca.pem "$@"; }
# start_tls_client NAME ARGUMENT...: in the background
start_tls_client() { start "$1" python3 -B "$E2E_SRC/tls_client.py" --ca ca.pem "${@:2}"; }
# start_tls_server NAME PORT ARGUMENT...
start_tls_server() {
	start "$1" python3 -B "$E2E_SRC/tls_server.py" "${@:3}" "$2"
	serves "$1" "$2" || bail "the server $1 does not start: $(cat "$T/$1.log")"
}

# prints LINES COMMAND...: these lines, joined by "; ", are what it prints
prints() {
	local found

	found=$("${@:2}" 2>&1 | paste -sd ';' | sed 's/;/; /g')
	# shellcheck disable=SC2053
	[[ $found == $1 ]] || { echo "$found"; return 1; }
}

# gets WHAT LINES ARGUMENT...: a case: the client prints these lines; LINES is a pattern
gets() { check "$1" prints "$2" tls_client "${@:3}"; }

STARTS="SUCCESS STARTTLS"
SECURE="TLSv1.3 sunrpc"

# tls_keys NAME [POLICY]: of a service with the certificate NAME.pem
tls_keys() { echo "tls = \"${2:-required}\"; tls_cert_file = \"$T/$1.pem\"; tls_key_file = \"$T/$1.key\";"; }
