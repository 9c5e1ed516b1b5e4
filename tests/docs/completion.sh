#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Completion for bash, zsh and fish has the programs' commands and options, and offers those that fit.
set -u
: "${srcdir:=.}" "${builddir:=.}"
. "$srcdir/tests/lib/tap.sh"
completion=$srcdir/completion

# Replacements for functions of the package bash-completion: a script has no readline.
_init_completion() {
	words=("${COMP_WORDS[@]}")
	cword=$COMP_CWORD
	cur=${words[cword]}
	prev=${words[cword - 1]}
}
_filedir() { COMPREPLY=("a file"); }
. "$completion/rpcrdma-proxyctl"
. "$completion/rpcrdma-proxy"

# A daemon whose service has a name that a shell would execute.
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
ln -s "$(realpath "$builddir/daemon/ctl/rpcrdma-proxyctl")" "$dir/real"
cat >"$dir/ctl" <<-'END'
	#!/bin/sh
	case $1 in
	help | --help) exec "${0%/*}/real" "$@" ;;
	esac
	echo "$*" >"${0%/*}/asked"
	case $* in
	*connections)
		printf '{\n  "connections": [\n    {\n      "id": 17,\n      "client_address": "192.0.2.7:703",\n'
		printf '      "client": {\n        "id": 3\n      }\n    },\n'
		printf '    {\n      "id": 9,\n      "client_address": "[fe80::1%%eth0]:9"\n    }\n  ]\n}\n'
		exit ;;
	*latency)
		printf '{\n  "services": {\n    "to-filer": {\n      "operations": {\n        "READ": {\n        }\n      }\n    }\n  }\n}\n'
		exit ;;
	esac
	printf '{\n  "services": [\n    {\n'
	printf '      "name": "to-filer",\n      "x": {\n        "name": "no service"\n      },\n'
	printf '      "targets": [\n        {\n          "connect": "rdma://[2001:db8::1]:20049",\n          "x": 1\n        },\n'
	printf '        {\n          "connect": "rdma://filer:20049"\n        }\n      ],\n'
	printf '      "mount_targets": [\n        {\n          "connect": "tcp://filer:2050"\n        }\n      ]\n'
	printf '    },\n    {\n      "name": "$(touch there)",\n'
	printf '      "targets": [\n        {\n          "connect": "tcp://other:2049"\n        }\n      ]\n    }\n  ]\n}\n'
END
chmod +x "$dir/ctl"
ln -s ctl "$dir/rpcrdma-proxyctl"

# offers WORD...: prints the candidates for the last word, on one line
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
same "servers of that service are offered without the transport" "[2001:db8::1]:20049 filer:20049" \
	"$(offers "$dir/ctl" target to-filer "")"
same "also one of them that has begun" "[2001:db8::1]:20049" "$(offers "$dir/ctl" target to-filer "[2001:d")"
same "those of another one are its own" "other:2049" "$(offers "$dir/ctl" target "\$(touch there)" "")"
same "of no service there are none" "" "$(offers "$dir/ctl" target files "")"
same "then what is to become of it" "up drain down" "$(offers "$dir/ctl" target to-filer filer:20049 "")"
for command in connections disconnect; do
	same "$command: connections and clients" "17 192.0.2.7 9 fe80::1" "$(offers "$dir/ctl" $command "")"
	same "$command: a client that has begun" "192.0.2.7" "$(offers "$dir/ctl" $command 192)"
	same "$command: there is one alone" "" "$(offers "$dir/ctl" $command 17 "")"
done
for command in drain resume stats top trace check target; do
	same "$command: a service" "to-filer" "$(offers "$dir/ctl" $command to)"
done
same "--client: clients" "192.0.2.7 fe80::1" "$(offers "$dir/ctl" trace --client "")"
__ltrim_colon_completions() { COMPREPLY=("${COMPREPLY[@]/#fe80:/}"); }
same "readline, for which a colon begins a word, gets what follows" ":1" "$(offers "$dir/ctl" disconnect fe80::)"
unset -f __ltrim_colon_completions
same "without a daemon there are none" "" \
	"$(offers "$builddir/daemon/ctl/rpcrdma-proxyctl" -s "$dir/none" stats "")"


# ---------------------------------------------------------------- zsh and fish

# Prints the candidates that zsh's functions get, on one line; its own functions need a terminal.
zsh_offers() {
	zsh -f -c '
		compadd() { [[ $1 != -- ]] || shift; print -l -- ${(M)@:#${cur}*}; }
		_describe() { compadd -- ${${(P)2}%%:*}; }
		_files() { print a file; }
		_arguments() { print -l -- $@ | sed "s/\[.*//"; }
		words=("${@:3}") CURRENT=$(($# - 2)) service=$1
		cur=$words[CURRENT]
		source $2
	' zsh "${function:-rpcrdma-proxyctl}" "$completion/_rpcrdma-proxy" "$@" | xargs -d '\n'
}
# Prints fish's own candidates, on one line.
fish_offers() {
	local line

	printf -v line '%q ' "${@:1:$#-1}"
	PATH=$dir:$PATH HOME=$dir XDG_CONFIG_HOME=$dir XDG_DATA_HOME=$dir fish --no-config -c '
		source $argv[1]
		complete -C $argv[2]' "$completion/${function:-rpcrdma-proxyctl}.fish" "${function:-rpcrdma-proxyctl} ${line#* }${*: -1}" |
		cut -f 1 | xargs -d '\n'
}
# sorted WORD...: prints these lines and words sorted, on one line
sorted() { tr ' ' '\n' <<<"$*" | grep . | sort | xargs -d '\n'; }

# has SHELL: tests the completion of both programs
has() {
	local offers=${1}_offers shell=$1 command commands

	commands=$("$dir/real" --help | sed -n 's/^  \([a-z]\{2,\}\).*/\1/p'; echo help)
	same "$shell: a command is completed" "$(sorted $commands)" "$(sorted "$($offers "$dir/ctl" "")")"
	same "$shell: behind options, too" "config connections" "$(sorted "$($offers "$dir/ctl" --json -s x.sock con)")"
	same "$shell: help takes a command" "config connections" "$(sorted "$($offers "$dir/ctl" help con)")"
	same "$shell: levels are offered" "debug error info warning" "$(sorted "$($offers "$dir/ctl" log "")")"
	same "$shell: nothing where no argument is taken" "" "$($offers "$dir/ctl" status "")"
	same "$shell: servers of a service" "[2001:db8::1]:20049 filer:20049" "$(sorted "$($offers "$dir/ctl" target to-filer "")")"
	same "$shell: then what is to become of one" "down drain up" "$(sorted "$($offers "$dir/ctl" target to-filer filer:20049 "")")"
	for command in connections disconnect; do
		same "$shell: $command: connections and clients" "17 192.0.2.7 9 fe80::1" "$(sorted "$($offers "$dir/ctl" $command "")")"
	done
	for command in drain resume stats top trace check target; do
		same "$shell: $command: a service" "to-filer" "$($offers "$dir/ctl" $command to)"
	done
	same "$shell: of two arguments the second" "READ" "$($offers "$dir/ctl" latency to-filer "")"
	same "$shell: --client: clients" "192.0.2.7 fe80::1" "$(sorted "$($offers "$dir/ctl" trace --client "")")"
	same "$shell: --operation: operations" "READ" "$($offers "$dir/ctl" trace --operation "")"
	for command in status stop check top trace capture; do
		same "$shell: $command: its options" \
			"$("$dir/real" help $command | sed -n '/^usage:/p; /^options:/p' | grep -o -- '--[a-z][a-z-]*' | sort | xargs)" \
			"$($offers "$dir/ctl" $command -- | tr ' ' '\n' | grep -vxE -- "--($(offers ctl - | sed 's/--//g; s/ /|/g'))" | sort | xargs)"
	done
	same "$shell: options of every command" "$(sorted "$(offers ctl --)")" "$(sorted "$($offers "$dir/ctl" --)")"
	same "$shell: those of the daemon, too" "$(sorted "$(function=rpcrdma_proxy offers rpcrdma-proxy - | sed 's/--help//; s/--version//')")" \
		"$(function=rpcrdma-proxy $offers rpcrdma-proxy - | tr ' ' '\n' | grep -v ^-- | sort | xargs)"
	same "$shell: it is the daemon that the options name that is asked" "-s x.sock --json services" \
		"$($offers "$dir/ctl" -s x.sock stats to >/dev/null; cat "$dir/asked")"
	check "$shell: no shell runs the names of services" [ ! -e there ]
}
for shell in zsh fish; do
	if command -v $shell >/dev/null; then
		has $shell
	else
		ok "$shell completes the same # SKIP $shell is not installed"
	fi
done

tap_end
