# SPDX-License-Identifier: MIT
# Sourced by tests/support/verdict.sh and tools/programs/common.sh.
# shellcheck shell=sh

# reason FILE...: why something failed, behind its line FAIL: the lines that speak of an error, then the
# last ones, in all at most 16, as who looks at a long log later may see no more of it.
reason() {
	for file in "$@"; do
		[ ! -f "$file" ] || cat "$file"
	done | tr -d '\000\r' | sed "s/$(printf '\033')\[[0-9;]*[A-Za-z]//g" | cut -c 1-240 | awk '
	{ line[NR] = $0 }
	/(^|[^A-Za-z_])([Ee]rrors?|ERROR|FAIL|FAILED|[Ff]atal|undefined|multiple definition|[Cc]annot|[Nn]o such|[Nn]ot found|Killed|denied|[Rr]efused|[Aa]ssertion|Segmentation|SIG[A-Z]+|Traceback|panic)([^A-Za-z_]|$)/ ||
	/^     [a-z0-9_]+: [^ ]*:[0-9]+: / { speaks[NR]; n++ }
	END {
		for (i = 1; i <= NR && shown < 10; i++)
			if (i in speaks) { print line[i]; delete line[i]; shown++ }
		for (i = NR > 16 - shown ? NR - 15 + shown : 1; i <= NR; i++)
			if (i in line) print line[i]
	}' | sed 's/^/     | /'
}
