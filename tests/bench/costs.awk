# SPDX-License-Identifier: BSD-3-Clause
# Computes the cost of an RPC or a message from callgrind's output: costs.awk ROWS PART... prints a line for each row.
# ROWS has a line "NAME COUNT [COPIED-BYTES]" for each part. callgrind writes a name once, and only its number in later
# parts.

function divided(count) { return sprintf("%.3f", count / rpcs[part]) }

# A row is through gates or between engines.
function row_end(    line) {
	if (!part)
		return
	line = divided(instructions)
	if (copied[part] == "")
		line = line " " divided(reads) " " divided(writes) " " divided(allocations) " " divided(posts) " " \
			divided(receives) " " divided(keys) " -"
	else
		line = line " " divided(reads) " " divided(writes) " " divided(allocations) " - - - " divided(copied[part])
	print name_of_row[part], line
	instructions = reads = writes = allocations = posts = receives = keys = 0
}

# "(7) name" is the first mention of what is "(7)" later on; returns the name, without what callgrind adds to a function that
# calls itself and the compiler to its copies of one.
function name_in(line, names,    id, name) {
	sub(/^[^=]*=/, "", line)
	id = name = line
	sub(/ .*/, "", id)
	if (sub(/^[^ ]* /, "", name))
		names[id] = name
	name = names[id]
	sub(/'[0-9]+$/, "", name)
	sub(/\.(isra|constprop|part|cold|lto_priv)\..*$|\.cold$/, "", name)
	return name
}

# Not what is there for tests alone.
function is_ours(file) {
	return file ~ /\/(lib|daemon)\// && file !~ /\/tests\/|^\/usr\/|fabric\/sim\/|stream\/pair/
}

function add_calls(callee, count) {
	# Whoever calls these: the owner of an engine is part of the replay.
	if (callee == "iwarp_engine_rx_done") reads += count
	if (callee == "iwarp_engine_tx_done") writes += count
	if (!ours)
		return
	if (callee == "op_readv") reads += count
	if (callee == "op_writev") writes += count
	if (callee ~ /^(malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|strdup)$/) allocations += count
	if (callee == "sim_post") posts += count
	if (callee == "sim_recv_post") receives += count
	if (callee == "sim_key_bind") keys += count
}

FILENAME == ARGV[1] { name_of_row[FNR] = $1; rpcs[FNR] = $2; copied[FNR] = $3; next }
FNR == 1 { row_end(); part++ }
/^f[lie]=/ { file = name_in($0, files); next }
/^cf[lie]=/ { name_in($0, files); next }
/^fn=/ { name_in($0, functions); ours = is_ours(file); next }
/^cfn=/ { callee = name_in($0, functions); next }
/^calls=/ { sub(/^calls=/, ""); add_calls(callee, $1 + 0); skip = 1; next }
/^[0-9+*-]/ { if (skip) skip = 0; else if (ours) instructions += $2 }
END { row_end() }
