# SPDX-License-Identifier: MIT
# Sourced by scripts of tests/check that read profiles; `folder` is set.
# shellcheck shell=sh disable=SC2154

# symbols PROGRAM [NM]: whose functions stacks have from now on.
symbols() {
	"${2:-nm}" -n --defined-only "$1" | awk '$2 ~ /^[tT]$/ && $3 !~ /^\$/ { print $1, $3 }' >"$folder/symbols"
}

# stacks FILE: "PLACE PLACE... LIVE ALL" for each stack, the innermost place first, those of the program alone;
# estimates in bytes.
stacks() {
	awk '
	function number(hex,    n, i) {
		n = 0
		for (i = 1; i <= length(hex); i++)
			n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return n
	}
	FNR == NR { at[++n] = number($1); name[n] = $2; next }
	/^heap profile: / { distance = $0; sub(/.*\//, "", distance); next }
	/^MAPPED/ { exit }
	/^[0-9]+: / {
		bytes = $2; all = $3; all_bytes = $4; places = ""
		gsub(/[^0-9]/, "", bytes); gsub(/[^0-9]/, "", all); gsub(/[^0-9]/, "", all_bytes)
		for (i = 6; i <= NF; i++) {
			address = number(substr($i, 3)) - 1
			if (address >= at[1] && address < at[n] + 256)
				for (k = n; k > 0; k--)
					if (address >= at[k]) {
						places = places name[k] " "
						break
					}
		}
		scale = all > 0 ? 1 / (1 - exp(-all_bytes / all / distance)) : 0
		live_sum[places] += bytes * scale; all_sum[places] += all_bytes * scale
	}
	END { for (places in all_sum) printf "%s%d %d\n", places, live_sum[places], all_sum[places] }' "$folder/symbols" "$1" | sort
}

# sums FILE PLACES: "LIVE ALL" of the stacks whose innermost places are these.
sums() {
	stacks "$1" | awk -v places="$2 " 'index($0, places) == 1 { live += $(NF - 1); all += $NF }
		END { printf "%d %d\n", live, all }'
}
