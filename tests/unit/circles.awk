# SPDX-License-Identifier: BSD-3-Clause
# Finds circles in a graph. Lines "FROM TO WHY"; prints each circle found as "FROM -> TO: WHY", one line an
# edge, an empty line after each. Edges from a node to itself are nothing.
$1 != $2 && !(($1, $2) in why) {
	why[$1, $2] = $3
	to[$1] = to[$1] " " $2
	nodes[$1]
	nodes[$2]
}

# Takes out, again and again, what nothing leads to or what leads nowhere: the rest is circles and ways between.
function prune(    changed, node, next_node, n, i, list, ins, outs) {
	do {
		changed = 0
		split("", ins)
		split("", outs)
		for (node in nodes) {
			n = split(to[node], list, " ")
			for (i = 1; i <= n; i++) {
				next_node = list[i]
				if (!(next_node in nodes) || (node, next_node) in cut)
					continue
				outs[node]++
				ins[next_node]++
			}
		}
		for (node in nodes)
			if (!(node in ins) || !(node in outs)) {
				delete nodes[node]
				changed = 1
			}
	} while (changed)
}

# The smallest name, for the same answer each time.
function least(    node, best) {
	best = ""
	for (node in nodes)
		if (best == "" || node < best)
			best = node
	return best
}

function successor(node,    n, i, list) {
	n = split(to[node], list, " ")
	for (i = 1; i <= n; i++)
		if (list[i] in nodes && !((node, list[i]) in cut))
			return list[i]
	return ""
}

# Walks until a node comes again, and prints from there; one of its edges is then cut, for the next circle.
function print_circle(    node, count, path, seen, i) {
	node = least()
	while (!(node in seen)) {
		seen[node] = ++count
		path[count] = node
		node = successor(node)
	}
	path[count + 1] = node
	for (i = seen[node]; i <= count; i++)
		print path[i] " -> " path[i + 1] ": " why[path[i], path[i + 1]]
	print ""
	cut[path[count], node]
}

END {
	prune()
	while (least() != "" && ++circles <= 20) {
		print_circle()
		prune()
	}
}
