# SPDX-License-Identifier: MIT
# What the benchmarks share: who is compared, and the table.  Sourced by sh from the top.
# shellcheck shell=sh

build=${BUILD:-build}
work=$build/bench/results
mkdir -p "$work"
rm -f "$work"/*

# name and library of each peer; glibc is what is there without LD_PRELOAD.  PEERS names
# others: PEERS="snmalloc:/opt/libsnmallocshim.so ...", or a folder of shared objects: each
# lib*.so* in it is a peer with the name of its file.
peers="glibc:- mimalloc:libmimalloc.so.2.0 jemalloc:libjemalloc.so.2 tcmalloc:libtcmalloc_minimal.so.4"
if [ -d "${PEERS:-}" ]; then
	for library in "$(realpath "$PEERS")"/lib*.so*; do
		name=${library##*/lib}
		peers="$peers ${name%%.so*}:$library"
	done
else
	peers="$peers ${PEERS:-}"
fi
there=
names=ashlar
absent= # "name: reason" lines

not_there() { # NAME REASON
	absent="$absent$1: $2
"
	echo "skip $1: $2" >&2
}

# find_peers HOSTED: sets `there` and `names`.  A peer that is not there is named as such.
find_peers() {
	for peer in $peers; do
		name=${peer%%:*} library=${peer#*:}
		if [ ! -x "$1" ]; then
			not_there "$name" "no hosted compiler and C library here"
		elif [ "$library" = - ] ||
		     [ -z "$(LD_PRELOAD=$library /bin/true 2>&1)" ]; then
			there="$there $peer"
			names="$names $name"
		else
			not_there "$name" "$library is not installed"
		fi
	done
}

# measure NAME COMMAND...: its lines are NAME's.
measure() {
	name=$1
	shift
	"$@" >> "$work/$name"
}

# measure_peers HOSTED ARGUMENT...: the same for each peer that is there.
measure_peers() {
	hosted=$1
	shift
	for peer in $there; do
		name=${peer%%:*} library=${peer#*:}
		[ "$library" = - ] && library=
		LD_PRELOAD=$library measure "$name" "$hosted" "$@"
	done
}

progress() { # ROUND ROUNDS
	if [ -t 2 ]; then
		[ "$1" -lt "$2" ] && printf '\r%d of %d ' "$1" "$2" >&2 || printf '\r          \r' >&2
	fi
}

# The CPU by its name, and by numbers, as a virtual machine's name may say little.
cpu_name() {
	awk -F': ' '
	/^model name/ && name == "" { name = $2 }
	/^cpu family/ { family = $2 }
	/^model\t/ { model = $2 }
	END { print name (family != "" ? " (family " family ", model " model ")" : "") }' /proc/cpuinfo
}

# stamp COMMAND TEXT: where and when the figures were measured; tools/bench/accept repeats this line
# above each table.
stamp() {
	echo "*$1, $(date -u +%F), $(cpu_name), $(nproc) CPUs, $(uname -sr): $2*"
}

# heading TEXT: of a table in Markdown with a column for each of `names`.
heading() {
	printf '|%s |' "${1:+ $1}"
	for name in $names; do printf ' %s |' "$name"; done
	printf '\n|---|'
	for name in $names; do printf -- '---|'; done
	echo
}

# table ROUNDS COMMAND: Markdown, of what was measured.  Each line on standard input is a row:
# what is divided by, its kind and its title:
#	time    minimum / median (less than three rounds: the minimum), and the ratio of
#	        medians to Ashlar's
#	count   the median
#	answer  the minimum
table() {
	if [ "$1" = 1 ]; then
		stamp "$2" "1 round."
	elif [ "$1" -lt 3 ]; then
		stamp "$2" "minimum of $1 rounds, interleaved."
	else
		stamp "$2" "$1 rounds, interleaved; minimum / median."
	fi
	echo
	# shellcheck disable=SC2046 # one word each
	awk -v names="$names" '
	FILENAME == "-" {
		row[++rows] = $1; divide[rows] = $2; kind[rows] = $3
		$1 = $2 = $3 = ""
		title[rows] = substr($0, 4)
		next
	}
	{ key = FILENAME; sub(/.*\//, "", key); v[key, $1, ++count[key, $1]] = $2 }
	END {
		n = split(names, name, " ")
		line = "| |"; rule = "|---|"
		for (i = 1; i <= n; i++) { line = line " " name[i] " |"; rule = rule "---|" }
		print line; print rule
		for (r = 1; r <= rows; r++) {
			line = "| " title[r] " |"
			d = divide[r]
			for (i = 1; i <= n; i++) {
				c = count[name[i], row[r]]
				for (a = 1; a <= c; a++) s[a] = v[name[i], row[r], a] + 0
				for (a = 1; a <= c; a++) for (b = a + 1; b <= c; b++)
					if (s[b] < s[a]) { t = s[a]; s[a] = s[b]; s[b] = t }
				if (!c) { line = line " did not run |"; continue }
				middle = s[int((c + 1) / 2)]
				cell = sprintf("%.3g", s[1] / d)
				if (c > 2) cell = cell sprintf(" / %.3g", middle / d)
				if (kind[r] == "answer") cell = s[1] / d
				else if (kind[r] == "count") cell = sprintf("%.3g", middle / d)
				else if (i == 1) own = middle
				else if (own > 0) cell = cell sprintf(" (x %.2f)", middle / own)
				line = line " " cell " |"
			}
			print line
		}
	}' - $(for name in $names; do echo "$work/$name"; done)
}
