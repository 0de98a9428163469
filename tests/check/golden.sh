#!/bin/sh
# SPDX-License-Identifier: MIT
# The instructions of the fast paths are those of tests/golden, in this build and in
# that of tests/check/compiler.sh; and a change of them would be seen.
. tests/support/verdict.sh

sh tools/golden check "$build" "$build/clang-19" "$build/aarch64" "$build/riscv64" || status=1

# planted NAME REASON SED: a change to the source that must be reported.
build_flags
planted() {
	mkdir -p "$folder/lib/core/front"
	cp "$build/lib/core/front/release.o" "$folder/lib/core/front"
	sed "$3" core/front/alloc.c >"$folder/alloc.c"
	$COMPILE -fPIE -ftls-model=local-exec -fvisibility=hidden -Iarch/x86_64 -Isys -Icore -Icore/include \
		-w -c "$folder/alloc.c" -o "$folder/lib/core/front/alloc.o" || exit 1
	sh tools/golden check "$folder" 2>&1 | grep -q "^     .*$2"
	verdict "finds $1"
}

fast='/^static ALWAYS_INLINE void \*alloc_fast/,/^}/'
planted 'a call' 'a call: ' "$fast s/return p;/memset(p, (int)size, size); return p;/"
planted 'a locked instruction' 'a locked instruction: ' \
	"$fast s/seat_open[a-z_]*([a-z]*);/fetch_or_acq_rel(\&heap_default.dirty, size); &/"
planted 'an exchange' 'an exchange with memory: ' \
	"$fast s/seat_open[a-z_]*([a-z]*);/p += exchange_seq_cst(\&heap_default.dirty, size); &/"
[ -f tests/golden/alloc-"$(readelf -p .comment "$build/lib/core/front/alloc.o" |
	sed -n 's/.*clang version \([0-9]*\)\..*/\1/p' | head -n 1)".txt ] &&
	planted 'one more instruction' '[+-]load' \
		"$fast s/seat_open[a-z_]*([a-z]*);/p += *(volatile char *)p; &/"
exit $status
