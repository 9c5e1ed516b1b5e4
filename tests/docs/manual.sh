#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The manual pages agree with the programs' tables, and are well formed.
set -u
: "${srcdir:=.}" "${builddir:=.}"
man=$builddir/man
tables=$builddir/tests/docs/print_tables
. "$srcdir/tests/lib/tap.sh"

same "the page of the file has every key of the table" \
	"$("$tables" keys | sort)" "$(grep -o '^\.It Va [a-z0-9_]*' "$man/rpcrdma-proxy.conf.5" | sort)"
same "its everyday keys are about ten" yes \
	"$(sed -n '/^\.Sh EVERYDAY KEYS/,/^\.Sh TUNING/p' "$man/rpcrdma-proxy.conf.5" | grep -c '^\.It Va' |
		awk '{ print ($1 >= 8 && $1 <= 12) ? "yes" : $1 }')"

# page_without KEY: prints a page with a paragraph for every key except KEY
page_without() {
	"$tables" keys | grep -vx "\.It Va $1" | sed 's/.* \(.*\)/@key \1@\nText./'
	printf '@end@\n.El\n'
}

made=$(page_without - | "$builddir/man/gen_conf_man" 2>&1; echo "status $?")
for lines in '.It Va workers Pq "0 to 256; default 0"\nText.\n.Pp\nA change takes effect only after a restart.\n.It Va ' \
	'.It Va credits Pq "1 to 1024; default 64"\nText.\n.Pp\nOnly for services with an RDMA side.\n.It Va ' \
	'.It Va name Pq "word; required"\nText.\n.It Va ' \
	'a multiple of 1024; default 8192"\n' 'none or nfs; default none"\n' '\n.El\nstatus 0'; do
	lines=$(printf %b. "$lines")
	case $made in
	*"${lines%.}"*) ok "a paragraph of the table's lines: ${lines%%[\"$'\n']*}" ;;
	*) not_ok "a paragraph of the table's lines: $lines" ;;
	esac
done
same "and nothing of its source is left" "" "$(grep @ <<<"$made")"

# refuses WHAT SAID: the page on standard input is refused with the message SAID
refuses() {
	same "$1" "$2
gen_conf_man: failed" "$("$builddir/man/gen_conf_man" 2>&1 >/dev/null && echo made)"
}
refuses "a page without a key is refused" 'the page lacks the key "credits"' < <(page_without credits)
for key in credit credits; do
	refuses "a page with $key too often is refused" "the page has an unknown or repeated key \"$key\"" \
		< <(page_without - && echo "@key $key@")
done

same "the page of the client has every command, as the table has it" \
	"$("$tables" commands)" \
	"$(sed -n '/^The commands are:/,/^\.Sh/p' "$man/rpcrdma-proxyctl.8" | grep '^\.It Cm ')"

same "the page of the client has every state of a connection, in their order" \
	"$("$tables" states)" \
	"$(sed -n '/^The states of a connection are:/,/^\.El/s/^\.It Ql \([a-z]*\)$/\1/p' "$man/rpcrdma-proxyctl.8")"

# problems: prints the problems of the page, a severity and an id per line
problems() {
	sed -n '/^\.Sh PROBLEMS/,/^\.Sh [^P]/p' "$man/rpcrdma-proxyctl.8" |
		awk '/^(Critical|Warnings|Notices):/ { kind = tolower($1); sub(/s?:$/, "", kind) }
			/^\.It Li/ { for (i = 3; i <= NF; i++) if ($i != ",") print kind, $i }'
}
same "the page of the client has every problem with its severity, in the order of the table" \
	"$("$tables" problems)" "$(problems)"

# metrics: prints the metrics of the page, a name and the text without macros per line
metrics() {
	sed -n '/^\.Ss Metrics/,/^\.El/p' "$man/rpcrdma-proxy.8" | awk '
		/^\.It Li / { if (name) print name text; name = $3; text = ""; next }
		/^\.El/ { print name text }
		name { sub(/^\.[A-Z][a-z] /, ""); if (match($0, / [.,:;]$/)) $0 = substr($0, 1, RSTART - 1) substr($0, RSTART + 1); text = text " " $0 }'
}
explained=$(metrics)
same "the page of the daemon explains each of its metrics as the HELP text does" "" \
	"$("$tables" metrics | grep ^rpcrdma_ | while read -r line; do grep -qF -- "$line" <<<"$explained" || echo "$line"; done)"

# members COMMAND...: prints the names of JSON members in the answers to these commands, without names that a user chose
members() {
	for command in "$@"; do
		sed 's/services\.one\.operations\.other\.//; s/stages\.[a-z]*\.//; s/\[\]//g' "$srcdir/tests/unit/golden/$command.keys" | tr . '\n'
	done | sort -u
}
missing=''
for member in $(members status services connections latency check log stop); do
	sed -n '/^\.Sh JSON/,/^\.Sh EXIT/p' "$man/rpcrdma-proxyctl.8" | grep -Eq "^\.(It )?Va (.* )?$member( |\$)" ||
		missing+=" $member"
done
same "the page of the client has every member of the JSON answers" "" "$missing"

same "and the operations by which a COMPOUND counts, in their order" \
	"$("$tables" operations)" \
	"$(sed -n '/^A COMPOUND of NFSv4 counts/,/^\.Ed/p' "$man/rpcrdma-proxyctl.8" | grep '^[A-Z_]*,' | tr -cd 'A-Z_,\n' | tr ',' '\n' | grep .)"

# with_usual_path PAGE: prints the page as it is installed with sysconfdir /etc
with_usual_path() {
	local fill=cat

	[ "$1" != rpcrdma-proxy.conf.5 ] || fill=$builddir/man/gen_conf_man
	sed 's,@sysconfdir@,/etc,g' "$srcdir/man/$1.in" | "$fill"
}

# Uses a path of usual length, because groff warns of a word that is wider than the line.
for page in rpcrdma-proxy.8 rpcrdma-proxyctl.8 rpcrdma-proxy.conf.5; do
	for tool in "groff -mdoc -ww -z -Tutf8" "mandoc -T lint -W warning"; do
		name="$page passes ${tool%% *}"
		if ! command -v "${tool%% *}" >/dev/null; then
			ok "$name # SKIP ${tool%% *} is not installed"
			continue
		fi
		# shellcheck disable=SC2086
		said=$(with_usual_path "$page" | $tool 2>&1)
		if [ -z "$said" ]; then
			ok "$name"
		else
			not_ok "$name"
			sed 's/^/# /' <<<"$said"
		fi
	done
done

if command -v mandoc >/dev/null; then
	same "a default has its quotes" '[ "127.0.0.0/8", "::1/128" ]' \
		"$(mandoc -T ascii "$man/rpcrdma-proxy.conf.5" | sed 's/.\x08//g' | tr '\n' ' ' | tr -s ' ' |
			sed -n 's/.*http_allow ([^;]*; default \([^)]*\)).*/\1/p')"
else
	ok "a default has its quotes # SKIP mandoc is not installed"
fi

# quotes PAGE: no quotes are nested, which happens with an item of two macros
quotes() {
	local said

	if ! command -v mandoc >/dev/null; then
		ok "$1 quotes well # SKIP mandoc is not installed"
		return
	fi
	said=$(mandoc -T utf8 "$man/$1" | sed 's/.\x08//g' | tr '\n' ' ' | tr -s ' ' | grep -o "‘[^’]*‘[^’]*’")
	same "$1 quotes well" "" "$said"
}
for page in rpcrdma-proxy.8 rpcrdma-proxyctl.8 rpcrdma-proxy.conf.5; do quotes $page; done

# messages: the messages that the daemon's page explains, up to a colon, are in the daemon
messages() {
	local text missing='' count=0

	while read -r text; do
		count=$((count + 1))
		grep -qaF -- "$text" "$builddir/daemon/rpcrdma-proxy" || missing+=" \"$text\""
	done < <(sed -n '/^\.Ss What the log says/,/^\.S[hs] /s/^\.It Ql \([^:]*\).*/\1/p' "$1")
	same "the log's messages that the page explains are those of the daemon" "" "$missing"
	check "there are some" [ $count -gt 0 ]
}
messages "$man/rpcrdma-proxy.8"

# table FILE: the log messages in its table, up to a number or a colon, are in the daemon
table() {
	local text count=0 missing=''

	while read -r text; do
		count=$((count + 1))
		grep -qaF -- "$text" "$builddir/daemon/rpcrdma-proxy" || missing+=" \"$text\""
	done < <(grep '^| ' "$1" | grep -oE 'the log says `[^`]*`|`[^`]*` in the log' |
		sed 's/^[^`]*`//; s/[:`].*//; s/ [0-9].*//')
	same "the log's messages in the tables of troubleshooting are those of the daemon" "there are some:" \
		"$([ $count -gt 5 ] && echo there are some):$missing"
}
table "$srcdir/doc/troubleshooting.md"

# README's packages are those that ./dev build installs, in the same order.
same "README installs what the build needs" \
	"$(eval "$(sed -n "/^build_libraries=\|^build_packages=/p" "$srcdir/dev")" && echo "${build_packages[*]}")" \
	"$(sed -n '/^    apt-get install /,/[^\\]$/{p;/[^\\]$/q}' "$srcdir/README.md" | sed 's/apt-get install//; s/\\$//' | xargs)"

# headings FILE: prints the headings in the form of links
headings() { sed -n 's/^##* //p' "$1" | tr '[:upper:] ' '[:lower:]-' | tr -cd 'a-z0-9_\n-'; }

# links FILE: each link has an existing file and heading
links() {
	local target missing='' path

	while read -r target; do
		path=$(dirname "$1")/${target%%#*}
		[ "${target%%#*}" ] || path=$1
		[ -e "$path" ] || missing+=" $target"
		case $target in
		*.md'#'* | '#'*) headings "$path" 2>/dev/null | grep -qxF -- "${target#*#}" || missing+=" $target" ;;
		esac
	done < <(grep -o '](\([^)]*\))' "$1" | sed 's/^](//; s/)$//')
	same "the links of ${1#"$srcdir/"} lead somewhere" "" "$missing"
}
for page in README.md CONTRIBUTING.md SECURITY.md NEWS.md tests/README.md tests/bench/README.md tests/lab/README.md tests/peer/README.md; do
	links "$srcdir/$page"
done
for page in "$srcdir"/doc/*.md "$srcdir"/doc/internals/*.md; do links "$page"; done

# names_files FILE: the sources, tests and packages that it names exist
names_files() {
	local path missing=''

	while read -r path; do
		compgen -G "$srcdir/$path" >/dev/null || [ -e "$srcdir/$path.c" ] || missing+=" $path"
	done < <(grep -oE '(^|[^A-Za-z0-9_/.-])(lib|daemon|tests|contrib|conf|debian|rpm)(/[A-Za-z0-9_.*-]*[A-Za-z0-9_*])+' "$1" |
		sed 's/^[^a-z]//' | sort -u)
	same "the files that ${1#"$srcdir/"} names are there" "" "$missing"
}
for page in "$srcdir"/doc/*.md "$srcdir"/doc/internals/*.md "$srcdir/CONTRIBUTING.md" "$srcdir/SECURITY.md"; do
	names_files "$page"
done

# short_names FILE: the sources that it names without a directory exist
short_names() {
	same "the sources that ${1#"$srcdir/"} names by their short names are there" "" "$(
		grep -oE '(^|[^A-Za-z0-9_/.])[a-z0-9_]+\.[ch]\b' "$1" | sed 's/^[^a-z0-9]//' | sort -u |
			grep -vxF "$(find "$srcdir/lib" "$srcdir/daemon" -name '*.[ch]' | sed 's,.*/,,')"
	)"
}
for page in "$srcdir"/doc/{architecture,internals,memory}.md "$srcdir"/doc/internals/*.md; do short_names "$page"; done

# quotes_files FILE: each path below tests/ that it names is a file, a directory or a program. Each line of a code block
# is a line of the last file that was named before it
quotes_files() {
	local path line file='' missing='' inside=''

	while read -r path; do
		case $path in
		*NAME* | */findings | tests/times) continue ;; # of the reader, and of the build
		esac
		path=$srcdir/${path%.log}
		[ -e "$path" ] || [ -e "$path.c" ] || missing+=" ${path#"$srcdir/"}"
	done < <(grep -oE '(^|[^a-z])tests(/[A-Za-z0-9_.]*[A-Za-z0-9_])+' "$1" | grep -o 'tests/.*')
	same "the files that tests/README.md names are there" "" "$missing"

	missing=''
	while IFS= read -r line; do
		case $line in
		'```') inside='' ;;
		'```'*) inside=yes ;;
		*)
			if [ -z "$inside" ]; then
				path=$(grep -oE '`tests/[a-z0-9_/.]*\.[a-z]+`' <<<"$line" | tr -d '`' | head -n 1)
				file=${path:-$file}
			elif [ -n "$line" ]; then
				grep -qxF -- "$line" "$srcdir/$file" || missing+=" $file: $line"
			fi
			;;
		esac
	done <"$1"
	same "the lines that it quotes are those of the files" "" "$missing"
}
quotes_files "$srcdir/tests/README.md"

# usage PROGRAM PAGE: the page has each option of -h
usage() {
	local options missing='' option

	options=$("$1" -h | sed -n 's/^  -\([a-zA-Z]\).*/\1/p')
	for option in $options; do
		grep -Eq "^\.It Fl $option( |\$)" "$man/$2" || missing+=" -$option"
	done
	same "$2 has every option that -h names" "" "$missing"
	check "-h of ${1##*/} names some" [ -n "$options" ]
}
usage "$builddir/daemon/ctl/rpcrdma-proxyctl" rpcrdma-proxyctl.8
usage "$builddir/daemon/rpcrdma-proxy" rpcrdma-proxy.8

# singly FILE: prints each complete or commented service of it as a file with one service
singly() {
	sed 's/^#//' "$1" | awk '
		/^ +\{ name +=/ { print "services = ("; inside = 1 }
		inside && /\},?$/ { sub(/,$/, ""); print; print ");"; inside = 0; next }
		inside { print }'
}

# examples FILE COUNT [NAME [WARNING]]: each "services = ( ... );" in it is a valid configuration; the page explains
# WARNING
examples() {
	local dir i=0 said='' file

	dir=$(mktemp -d)
	awk -v dir="$dir" '
		/^ *services = \(/ { file = dir "/" ++n }
		file { print > file }
		/\);$/ { file = "" }' "$1"
	for file in "$dir"/*; do
		i=$((i + 1))
		# Servers, addresses, routes and capabilities of an example need not exist here, and tests/e2e/recipes.sh makes its
		# certificates.
		said+=$("$builddir/daemon/rpcrdma-proxy" -t -c "$file" 2>&1 >/dev/null |
			grep -v -e ' does not resolve (' -e 'is not configured on this host' -e 'are not routed to this host' \
				-e 'CAP_NET_RAW is missing' -e 'cannot read /etc/rpcrdma-proxy/.*: No such file' -e "${4:-^\$}")
	done
	rm -r "$dir"
	same "the $2 examples of ${3:-${1##*/}} are valid and draw no warning" "$2 examples: " "$i examples: $said"
}
# The example of Kerberos on the client's host.
any_port='service to-filer accepts clients from any source port, but'
examples "$srcdir/doc/recipes.md" 22 recipes.md "$any_port"
examples "$man/rpcrdma-proxy.conf.5" 3
examples <(singly "$srcdir/doc/recipes.md") 23 "recipes.md, singly" "$any_port"
examples <(singly "$srcdir/conf/rpcrdma-proxy.conf") 2 "the file as installed, singly"

tap_end
