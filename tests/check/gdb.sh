#!/bin/sh
# SPDX-License-Identifier: MIT
# The commands for gdb (tools/gdb/ashlar-gdb.py): on a live process, on a core, in each product.
. tests/support/verdict.sh

case $build in /*) ;; *) build=$(pwd)/$build ;; esac
script=$(pwd)/tools/gdb/ashlar-gdb.py

# Names of the fields, in their order, here and there.
sed '/define ASH_ARENAS_FIELDS/,$d' core/include/ashlar_descriptor.h >"$folder/descriptor.h"
sed -n 's/^[[:space:]]*\(NUMBER\|MEMBER\|ARRAY\)(\([a-z_]*\), \(.*\))[[:space:]]*\\*$/\1 \2 \3/p
	s/^[[:space:]]*MEMBER(\([a-z_]*\), \([a-z_]*\))$/MEMBER \1 \2/p' "$folder/descriptor.h" |
	awk '!seen[$0]++ { print $1 == "NUMBER" ? $2 : $2 "." $3 }' >"$folder/header"
awk '/^FIELDS = """/ { on = 1; next } /^""".split/ { on = 0 } on' "$script" | tr ' ' '\n' >"$folder/script"
[ "$(wc -l <"$folder/script")" -gt 50 ] && cmp -s "$folder/header" "$folder/script"
verdict 'the script has the fields of ashlar_descriptor.h'
diff "$folder/header" "$folder/script" | head -n 5 | sed 's/^/     /'

if ! gdb -batch -ex 'python print("python")' 2>/dev/null | grep -q python; then
	echo 'skip gdb: it is not here, or has no Python (make setup-checkers)'
	exit $status
fi

build_flags

cat >"$folder/program.c" <<'C'
#include "ashlar.h"
#include "rt.h"
static void *take(size_t size)
{
	void *p = ash_alloc(size);

	if (p == NULL)
		rt_exit(1);
	return p;
}
char *volatile block, *volatile span, *volatile released;
static void from_thread(void *unused)
{
	(void)unused;
	ash_release(released);
}
void stop_here(void);
__attribute__((noinline)) void stop_here(void)
{
	__asm__ volatile("" ::: "memory");
}
int main(int argc, char **argv, char **envp)
{
	(void)argc, (void)argv, (void)envp;
	for (int i = 0; i < 1000; i++)
		block = take(100);
	for (int i = 0; i < 50; i++)
		(void)take(3000);
	span = take((size_t)5 << 20);
	released = take(5000);
	rt_thread_join(rt_thread_start(from_thread, NULL));
	stop_here();
	ash_release(block + 8);
	return 0;
}
C
$COMPILE -w -c "$folder/program.c" -o "$folder/program.o" &&
	$LINK "$folder/program.o" "$build/runtime.a" "$build/libashlar_start.a" "$build/libashlar.a" -o "$folder/program" || exit 1

cat >"$folder/commands" <<'G'
ashlar
ashlar find block
ashlar find block + 8
ashlar find span + 4000000
ashlar find span + (5 << 20)
ashlar find released
ashlar find &block
ashlar blocks 97 3
ashlar blocks 5000000
ashlar check
G

# said NAME: what the commands print is right.
said() {
	at=$(sed -n 's/^0x[0-9a-f]*: 8 bytes into a live block of 112 bytes at \(0x[0-9a-f]*\), .*/\1/p' "$folder/out")
	grep -qE '^ +112 +[0-9]+ +[0-9]+ +[0-9]+ +1000 +0$' "$folder/out" &&
		grep -qE '^ +3072 +[0-9]+ +[0-9]+ +[0-9]+ +50 +0$' "$folder/out" &&
		grep -qE '^ +5120 +[0-9]+ +[0-9]+ +[0-9]+ +0 +1$' "$folder/out" &&
		grep -qE '^ +spans +1 +5242880 ' "$folder/out" && grep -q '^1051 blocks, ' "$folder/out" &&
		[ -n "$at" ] && grep -q "^$at: 0 bytes into a live block of 112 bytes at $at, slot " "$folder/out" &&
		grep -q ': 4000000 bytes into a live block of 5242880 bytes at 0x.*, a span$' "$folder/out" &&
		grep -qE ': (behind the end of the 5242880-byte block|in a free chunk)' "$folder/out" &&
		grep -q 'into a slot that another thread released, not yet collected of 5120 bytes' "$folder/out" &&
		grep -q ': not a block of this allocator$' "$folder/out" &&
		[ "$(grep -cE '^0x[0-9a-f]+ 112$' "$folder/out")" = 3 ] && grep -q '^1000 blocks, 3 shown$' "$folder/out" &&
		grep -qE '^0x[0-9a-f]+ 5242880$' "$folder/out" && grep -q ' slabs, 0 faults$' "$folder/out"
	verdict "$1" "$folder/out" "$folder/errors"
}

# debug ARGUMENT...: gdb, from the folder of the script, so that the section's name is found.
debug() {
	(cd "${script%/*}" && timeout 3600 gdb -batch -nx -iex "add-auto-load-safe-path ${script%/*}" "$@") \
		>"$folder/out" 2>"$folder/errors" </dev/null
}

debug -ex 'break stop_here' -ex 'run' -x "$folder/commands" "$folder/program"
may_trace=yes
if grep -qiE 'ptrace|could not trace|not permitted' "$folder/errors"; then
	may_trace=
	echo 'skip gdb: it may not trace here'
else
	said 'a live process, the script found by the section .debug_gdb_scripts'
	cp "$folder/program" "$folder/bare" && strip -g "$folder/bare"
	sed -n '1p;/blocks/p;/check/p' "$folder/commands" >"$folder/few"
	debug -ex "source $script" -ex 'break stop_here' -ex 'run' -x "$folder/few" "$folder/bare"
	grep -q '^1051 blocks, ' "$folder/out" && grep -q ' slabs, 0 faults$' "$folder/out"
	verdict 'without debug information'
	# Without any symbol: it stops by its misuse.
	strip "$folder/bare" && debug -ex "source $script" -ex 'run' -x "$folder/few" \
		-ex "generate-core-file $folder/bare.core" "$folder/bare"
	grep -q '^1051 blocks, ' "$folder/out" && grep -q ' slabs, 0 faults$' "$folder/out"
	verdict 'stripped, by the note' "$folder/out" "$folder/errors"
	debug -ex "source $script" -core "$folder/bare.core" -x "$folder/few" "$folder/bare"
	grep -q '^1051 blocks, ' "$folder/out" && grep -q ' slabs, 0 faults$' "$folder/out"
	verdict 'stripped, by the note in a core' "$folder/out" "$folder/errors"
	debug -ex 'break stop_here' -ex 'run' -ex "generate-core-file $folder/core" "$folder/program"
	debug -core "$folder/core" -x "$folder/commands" "$folder/program"
	said 'a core file'
	# Damage: a bit beyond the last slot of the slab that has `block`.
	debug -ex 'break stop_here' -ex 'run' -ex 'python h = Heap(); b = int(gdb.parse_and_eval("(long)block"))' \
		-ex 'python c = h.chunk_of(b); u = b >> 15 & 63; s = h.record("slab", c.address + c.at("head", u))' \
		-ex 'python a = s.address + h.member["slab.free"][0] + 8 * (s["groups"] - 1)' \
		-ex 'python gdb.selected_inferior().write_memory(a, (1 << 63).to_bytes(8, "little"))' \
		-ex 'ashlar check' "$folder/program"
	grep -q 'bits beyond the last slot' "$folder/out" && grep -q ' slabs, 1 faults$' "$folder/out"
	verdict 'damage is found' "$folder/out" "$folder/errors"
fi

# The shared object, in a program with a C library.
if [ -z "$may_trace" ]; then
	: # as said
elif echo 'int main(void) { return 0; }' | cc -x c - -o "$folder/hosted" 2>/dev/null; then
	cat >"$folder/hosted.c" <<'C'
#include <stdlib.h>
static void *volatile block;
__attribute__((noinline)) void stop_here(void) { __asm__ volatile("" ::: "memory"); }
int main(void)
{
	for (int i = 0; i < 500; i++)
		block = malloc(70000);
	stop_here();
	return block == NULL;
}
C
	cc -g -O0 "$folder/hosted.c" -o "$folder/hosted" &&
		cp "$build/libashlar_malloc.so" "$folder/stripped.so" && strip "$folder/stripped.so"
	debug -ex "set environment LD_PRELOAD $folder/stripped.so" -ex "source $script" -ex 'set startup-with-shell off' -ex 'break stop_here' -ex 'run' \
		-ex 'ashlar blocks 70000 1' -ex 'ashlar check' "$folder/hosted"
	grep -q '^500 blocks, 1 shown$' "$folder/out" && grep -q ' slabs, 0 faults$' "$folder/out"
	verdict 'the shared object, stripped, by LD_PRELOAD' "$folder/out" "$folder/errors"
else
	echo 'skip gdb: the shared object: no compiler with a C library here'
fi
exit $status
