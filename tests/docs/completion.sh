#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Bash completion has the commands and options that the programs have, and offers what fits.
set -u
: "${srcdir:=.}" "${builddir:=.}"
. "$srcdir/tests/lib/tap.sh"
completion=$srcdir/completion

# Of the bash-completion package, which completes files and splits the line; a script has no line of readline's.
_init_completion() {
	words=("${COMP_WORDS[@]}")
	cword=$COMP_CWORD
	cur=${words[cword]}
	prev=${words[cword - 1]}
}
_filedir() { COMPREPLY=("a file"); }
. "$completion/rpcrdma-proxyctl"
. "$completion/rpcrdma-proxy"

# A daemon whose service has a name that a shell would run.
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
cat >"$dir/ctl" <<-'END'
	#!/bin/sh
	echo "$*" >"${0%/*}/asked"
	printf '{\n  "services": [\n    {\n'
	printf '      "name": "to-filer",\n      "x": {\n        "name": "no service"\n      }\n'
	printf '    },\n    {\n      "name": "$(touch there)"\n    }\n  ]\n}\n'
END
chmod +x "$dir/ctl"

# offers WORD...: for the last of them, on one line
offers() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	"_${function:-rpcrdma_proxyctl}"
	echo "${COMPREPLY[*]}"
}

same "the list has every command with its arguments, in the table's order" \
	"$("$builddir/tests/docs/print_tables" commands | sed 's/^\.It Cm //; s/Oo Ar \(.*\) Oc/[\1]/; s/Op Ar \(.*\)/[\1]/; s/Ar //')" \
	"$(sed 1d <<<"$_rpcrdma_proxyctl_commands")"
same "the options are those of --help" \
	"$("$builddir/daemon/ctl/rpcrdma-proxyctl" --help | grep '^  -' | grep -o -- ' --[a-z]*' | xargs)" "$(offers ctl -)"
same "those of the daemon, too" \
	"$("$builddir/daemon/rpcrdma-proxy" -h | sed -n 's/^  \(-[a-zA-Z]\).*/\1/p' | xargs) --version --help" \
	"$(function=rpcrdma_proxy offers rpcrdma-proxy -)"

same "a command is completed" "status stats" "$(offers ctl sta)"
same "behind options, too" "connections config" "$(offers ctl --json -s x.sock con)"
same "help takes a command" "counters connections config" "$(offers ctl help co | tr ' ' '\n' | sort -r | xargs)"
same "levels are offered" "error warning info debug" "$(offers ctl log "")"
same "nothing where no argument is taken" "" "$(offers ctl status "")"
same "nothing for an unknown command" "" "$(offers ctl restart "")"
same "and an argument that looks like an option" "--now" "$(offers ctl stop -)"
same "and an option of status" "--exit-code" "$(offers ctl status -)"
same "also behind another argument" "--mount" "$(offers ctl check files -)"
same "or several" "--delay --count --connections" "$(offers ctl top -)"
same "that of one has none offered" "" "$(offers ctl --count "")"
same "and is no argument of the command" "--delay --count --connections" "$(offers ctl -n 3 top files -)"
same "files for --config" "a file" "$(offers ctl --config "")"
same "files for the daemon's -c" "a file" "$(function=rpcrdma_proxy offers rpcrdma-proxy -c "")"
same "services are those that the daemon has, as they are" "to-filer \$(touch there)" \
	"$(cd "$dir" && offers ./ctl stats "")"
same "what may be a service or a file is either" "a file to-filer \$(touch there)" "$(cd "$dir" && offers ./ctl capture "")"
same "then it is a file" "a file" "$(offers ctl capture nfs "")"
same "options of a command are its own" "--seconds --snaplen" "$(offers ctl capture nfs --s)"
same "and their values are no words" "a file" "$(offers ctl capture --snaplen 512 nfs "")"
check "no shell runs their names" [ ! -e "$dir/there" ]
same "it is the daemon that the options name that is asked" "-s x.sock --json services" \
	"$(offers "$dir/ctl" -s x.sock stats to >/dev/null; cat "$dir/asked")"
same "without a daemon there are none" "" \
	"$(offers "$builddir/daemon/ctl/rpcrdma-proxyctl" -s "$dir/none" stats "")"

tap_end
