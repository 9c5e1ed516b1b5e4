#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# results.sh FILE DIR TIER RESULT...: writes the record of a full run, a column for each kernel in DIR. A RESULT is
# "SERIES|ok|ROW # SECONDS s", "SERIES|not ok|ROW: WHY", or "SERIES|ok|judge: ROW: WHAT # SECONDS s".
set -eu
file=$1 dir=$2 tier=$3
shift 3
{
	echo "# What the laboratory found"
	echo
	echo "Written by \`tests/lab/run.sh --$tier\` on $(date -u +%F)."
	echo
	echo "Kernels $(cat "$dir"/*/kver | sort -V | paste -sd , | sed 's/,/ and /') as client and server ($(mount.nfs -V 2>&1 | sed 's/.*(\(.*\))/\1/'))," \
		"NFS-Ganesha $(ganesha.nfsd -v 2>&1 | sed -n 's/.*= *V\?\([0-9.]*\).*/\1/p' | head -1)," \
		"libnfs $(dpkg-query -W -f '${Version}' libnfs-utils 2>/dev/null || echo of this machine)," \
		"rdma-core $(dpkg-query -W -f '${Version}' rdma-core 2>/dev/null || echo of this machine)."
	echo "Moments of kills: LAB_SEED=${LAB_SEED:-?}."
	echo "Guests are emulated: times show that rows ran, not how fast anything is."
	echo
	cat <<-'WHAT'
	What rows do, each on a separate mount of the version that it names:

	* all: files of 31 sizes up to 4 MiB, O_DIRECT at odd offsets and lengths and a mapping, each read back from the server; a
	  tree copied and compared; 200 names made, read and removed; links, a long symlink, modes; with knfsd ACLs (NFSv3: NFSACL,
	  NFSv4: nfs4_setfacl; also one larger than an inline message), xattrs (4.2) and a delegation recalled (4.1, 4.2); with
	  NFSv4 byte-range locks and a counter that two clients contend for.
	* in the full tier also: a part of the kernel's source unpacked, hashed and compared; a file of 32 MiB; a directory of
	  10,000 names read whole; fio with verification (random reads and writes of 512 to 131072 bytes, unaligned, 16 MiB);
	  200 rounds of contended locks.
	* kills: a load of seeded files with a journal of what was acknowledged; see README.md. The judge's rows are its verdicts
	  on the captures of the rows before.
	* conformance: the peer of tests/peer judges, with the lists of known deviations in this directory.
	* "as directly": a program's list of results through the proxy is the one of a mount of the server itself.
	* rows with sec=: files, names, links and a READ of 1 MiB.

	WHAT
	printf '%s\n' "$@" | awk -F '|' -v kernels="$(printf '%s\n' "${@%%|*}" | sort -uV | paste -sd ' ')" '
		# where TEXT belongs: the longest name of a row of which it is about
		function row_of(text, bare, name, best) {
			bare = text
			sub(/^judge: /, "", bare)
			for (name in named)
				if (length(name) > length(best) && (bare == name || index(bare, name ": ") == 1)) best = name
			if (best == "") return text
			return bare == text ? best : "judge: " best
		}
		{
			series = $1; result = $2; text = $0
			sub(/^[^|]*\|[^|]*\|/, "", text)
			seconds = ""
			if (match(text, / # [0-9]+ s$/)) { seconds = substr(text, RSTART + 3); text = substr(text, 1, RSTART - 1) }
			if (match(text, / # SKIP /)) { result = "skipped: " substr(text, RSTART + 8); text = substr(text, 1, RSTART - 1) }
			n++
			of[n] = series; said[n] = result; about[n] = text; took[n] = seconds
			if (result == "ok" && text !~ /^judge: /) named[text]
		}
		END {
			for (i = 1; i <= n; i++) {
				row = row_of(about[i])
				if (!(row in seen)) { seen[row]; order[++rows] = row }
				cell = said[i] (length(about[i]) > length(row) ? substr(about[i], length(row) + 1) : "")
				cell = cell (took[i] == "" ? "" : ", " took[i])
				cells[row, of[i]] = cells[row, of[i]] (cells[row, of[i]] == "" ? "" : "; ") cell
			}
			columns = split(kernels, head, " ")
			line = "| row |"; rule = "|---|"
			for (c = 1; c <= columns; c++) { line = line " Linux " head[c] " |"; rule = rule "---|" }
			print line; print rule
			for (i = 1; i <= rows; i++) {
				line = "| " order[i] " |"
				for (c = 1; c <= columns; c++) {
					cell = cells[order[i], head[c]]
					line = line " " (cell == "" ? "-" : cell) " |"
				}
				print line
			}
		}'
} >"$file"
