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
	Each row runs on a mount of its own, with the version of NFS that the row names:

	* **all:** files of 31 sizes up to 4 MiB, read back from the server; O_DIRECT at odd offsets and lengths; a mapping; a copied
	  tree; 200 names created, read and removed; links, a long symlink, modes.
	  * With knfsd also: ACLs (NFSv3: NFSACL, NFSv4: nfs4_setfacl, one of them larger than an inline message), xattrs (4.2), a
	    recalled delegation (4.1, 4.2).
	  * With NFSv4 also: byte-range locks, and a counter for which two clients contend.
	* **all, in the full tier also:** a part of the kernel's source, unpacked and compared; a file of 32 MiB; a directory of
	  10,000 names; fio with verification (random unaligned reads and writes of 512 to 131072 bytes in 16 MiB); 200 rounds of
	  contended locks.
	* **kills:** a load of seeded files with a journal of what the server acknowledged; see README.md.
	* **judge:** the packet judge's verdict on the capture of the row that it names.
	* **conformance:** the verdicts of the peer in tests/peer. This directory lists the known deviations.
	* **"as directly":** a program has the same list of results through the proxy and on a mount of the server itself.
	* **sec=:** files, names, links and a READ of 1 MiB.

	WHAT
	printf '%s\n' "$@" | awk -F '|' -v kernels="$(printf '%s\n' "${@%%|*}" | sort -uV | paste -sd ' ')" '
		# the row that TEXT belongs to: the one with the longest matching name
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
