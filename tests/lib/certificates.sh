# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes authorities and certificates for a test, in the current directory; source it.
#
#	authority ca                                            # ca.pem, ca.key
#	certificate proxy ca DNS:proxy.example,IP:127.0.0.1     # proxy.pem, proxy.key
#	certificate old ca DNS:old.example -30 -1               # expired yesterday

# authority NAME [SUBJECT]
authority() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=${2:-$1}" \
		-keyout "$1.key" -out "$1.pem" 2>>openssl.log
}

# when DAYS, or when +SECONDSs: as openssl ca takes a time
when() {
	local at="$1 days"

	[[ $1 != *s ]] || at="${1%s} seconds"
	date -u -d "$at" +%y%m%d%H%M%SZ
}

# authority_files NAME: what openssl ca needs to sign by it
authority_files() {
	[ ! -e "$1.cnf" ] || return 0
	mkdir -p "$1.d" && : >"$1.d/issued"
	cat >"$1.cnf" <<-END
		[ca]
		default_ca = it
		[it]
		database = $1.d/issued
		new_certs_dir = $1.d
		rand_serial = yes
		unique_subject = no
		default_md = sha256
		policy = any
		[any]
		commonName = supplied
	END
}

# certificate NAME AUTHORITY NAMES [FROM TO]: NAMES as openssl's subjectAltName; valid from FROM to TO, each a number of days
# from now, or of seconds, such as +20s
certificate() {
	local name=$1 authority=$2

	authority_files "$authority"
	printf 'subjectAltName = %s\n' "$3" >"$name.ext"
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$name" \
		-keyout "$name.key" -out "$name.csr" 2>>openssl.log &&
		openssl ca -batch -notext -config "$authority.cnf" -cert "$authority.pem" -keyfile "$authority.key" \
			-startdate "$(when "${4:--1}")" -enddate "$(when "${5:-29}")" \
			-extfile "$name.ext" -in "$name.csr" -out "$name.pem" 2>>openssl.log || return 1
	rm "$name.csr" "$name.ext"
}
