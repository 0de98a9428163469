#!/bin/sh
# SPDX-License-Identifier: MIT
# ashlar-look finds the heap in each product, stripped and linked by whom it may be, and in a core.
# What it says of it: tests/program/look*.c.
. tests/support/verdict.sh

case $build in /*) ;; *) build=$(pwd)/$build ;; esac
look=$build/ashlar-look
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$folder"' EXIT

build_flags

# 1000 blocks of 100 bytes, of which the row of 112 bytes tells; then it waits for the end of
# its input, or for that and a trap.
cat >"$folder/program.c" <<'C'
#include "ashlar.h"
#include "rt.h"
#include "syscall.h"
int main(int argc, char **argv, char **envp)
{
	char byte;
	(void)argv, (void)envp;
	arch_prctl(0x59616d61, -1, 0, 0, 0); /* any process may look (Yama) */
	for (int i = 0; i < 1000; i++)
		if (ash_alloc(100) == NULL)
			return 1;
	arch_write(1, "ready\n", 6);
	while (arch_read(0, &byte, 1) > 0)
		;
	if (argc > 1)
		__builtin_trap();
	return 0;
}
C
$COMPILE -w -Iarch/x86_64 -c "$folder/program.c" -o "$folder/program.o" || exit 1

# started COMMAND...: it runs, as $pid, and is ready; finish ends it.
started() {
	rm -f "$folder/input"
	: >"$folder/output"
	mkfifo "$folder/input"
	"$@" <"$folder/input" >"$folder/output" 2>&1 &
	pid=$!
	exec 3>"$folder/input"
	tries=0
	until grep -q ready "$folder/output" || [ $tries = 12000 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
}
finish() {
	exec 3>&-
	wait "$pid" 2>/dev/null
	pid=
}

# has_row FILE: 1000 blocks of 112 bytes are in it.
has_row() {
	grep -q '"size": 112, .*"taken": 1000, ' "$1"
}

# may_read NAME: false, and a skip, if the system lets no process read another's memory.
may_read() {
	! grep -q 'may not be read' "$folder/errors" && return
	echo "skip look: $1: a process may not read another's memory here"
	return 1
}

# seen NAME FILE...: linked of these with the program, and stripped, it is looked at.
seen() {
	name=$1
	shift
	$LINK "$folder/program.o" "$@" "$build/runtime.a" "$build/libashlar_start.a" -o "$folder/program" && strip "$folder/program" &&
		started "$folder/program" && "$look" --json "$pid" >"$folder/json" 2>"$folder/errors"
	result=$?
	finish
	may_read "$name" || return
	[ $result = 0 ] && has_row "$folder/json"
	verdict "$name, stripped"
}

seen 'a program with libashlar.a' "$build/libashlar.a"
seen 'a program with libashlar_malloc.a' "$build/libashlar_malloc.a"
. tests/support/amalgamated.sh
amalgamated clang || exit 1
seen 'the amalgamation' "$folder/one.o"

# With a C library, by its own linker, position independent.
cat >"$folder/hosted.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
int prctl(int option, ...);
int main(void)
{
	static void *volatile p;
	prctl(0x59616d61, -1L, 0L, 0L, 0L);
	for (int i = 0; i < 1000; i++)
		p = malloc(100);
	puts("ready");
	fflush(stdout);
	return getchar() == 0;
}
C
if ! gcc -O2 -ffunction-sections -Wl,--gc-sections -s "$folder/hosted.c" \
	"$build/libashlar_malloc.a" -lpthread -o "$folder/hosted" 2>/dev/null ||
	! gcc -O2 -s "$folder/hosted.c" -o "$folder/plain" 2>/dev/null; then
	echo 'skip look: programs by gcc: it is not here, or finds no C library'
else
	started "$folder/hosted"
	"$look" --json "$pid" >"$folder/json" 2>"$folder/errors"
	finish
	if may_read 'programs by gcc'; then
		grep -q '"size": 112, .*"taken": 1[0-9][0-9][0-9], ' "$folder/json"
		verdict 'a program by gcc and its linker, with libashlar_malloc.a and --gc-sections'
		cp "$build/libashlar_malloc.so" "$folder/stripped.so"
		strip "$folder/stripped.so"
		started env LD_PRELOAD="$folder/stripped.so" "$folder/plain"
		"$look" --json "$pid" >"$folder/json"
		result=$?
		"$look" "$pid" >"$folder/text"
		finish
		[ $result = 0 ] && grep -q '"size": 112, .*"taken": 1[0-9][0-9][0-9], ' "$folder/json" &&
			grep -q 'Ashlar .* in .*stripped.so' "$folder/text"
		verdict 'a program by gcc with libashlar_malloc.so, stripped'
	fi
fi

$LINK "$folder/program.o" "$build/runtime.a" "$build/libashlar_start.a" "$build/libashlar.a" -o "$folder/program"
started "$folder/program"
"$look" "$pid" >/dev/full 2>"$folder/errors"
[ $? = 2 ] && grep -q 'cannot be written' "$folder/errors"
result=$?
finish
if may_read 'output that cannot be written'; then
	[ $result = 0 ]
	verdict 'output that cannot be written is said'
fi

# ---- what may not be read, and what is not there ----

# By another user, who may not trace it.
"$look" 4194305 2>"$folder/errors" # above the highest id
[ $? = 2 ] && grep -q 'there is no such process' "$folder/errors"
verdict 'a process that is not there is said' "$folder/errors"
cp "$look" "$folder/look" && chmod 755 "$folder" "$folder/look"
other="setpriv --reuid=65534 --regid=65534 --clear-groups"
if ! $other true 2>/dev/null; then
	echo 'skip look: a process of another user: only root can be another user'
else
	started "$folder/program"
	$other "$folder/look" "$pid" 2>"$folder/errors"
	[ $? = 2 ] && grep -q 'may not be read (.*ptrace' "$folder/errors"
	verdict 'a process that may not be traced: the reason is said' "$folder/errors"
	finish
fi

# ---- a core ----

pattern=$(cat /proc/sys/kernel/core_pattern 2>/dev/null)
case $pattern in
'|'* | */* | '') echo "skip look: a core: the system sends cores elsewhere ($pattern)" ;;
*)
	mkdir "$folder/cores"
	# The outer shell is the one that says how the program ended.
	(
		(cd "$folder/cores" && ulimit -c unlimited && exec "$folder/program" trap)
		:
	) </dev/null >/dev/null 2>&1
	core=$(find "$folder/cores" -type f | head -n 1)
	if [ -z "$core" ]; then
		echo 'skip look: a core: none is written here'
	else
		"$look" --json "$core" >"$folder/json" && has_row "$folder/json" &&
			grep -q '"exact": true' "$folder/json"
		verdict 'a core of a program that was ended by a trap'
		# Without the program: the descriptor is in the first page, which is in the core.
		rm "$folder/program"
		"$look" --json "$core" >"$folder/json" && has_row "$folder/json"
		verdict 'the core alone, without the program'
	fi
	;;
esac

# ---- the tool itself ----

# A core may name any file: with a hostile one, a pipe or a device.
mkfifo "$folder/pipe"
{
	printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0\76\0\1\0\0\0\0\0\0\0\0\0\0\0\100\0\0\0\0\0\0\0'
	printf '\0\0\0\0\0\0\0\0\0\0\0\0\100\0\70\0\2\0\100\0\0\0\0\0'
	# Two segments: the notes, at 176; an address that is in no file.
	printf '\4\0\0\0\4\0\0\0\260\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
	printf '\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\4\0\0\0\0\0\0\0'
	printf '\1\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0\7\0\0\0\0'
	printf '\100\0\0\0\0\0\0\0\100\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0'
	# NT_FILE of 212 bytes: one file of 1 MiB at 0x100000, whose name zeros follow.
	printf '\5\0\0\0\324\0\0\0ELIFCORE\0\0\0\0\1\0\0\0\0\0\0\0\0\20\0\0\0\0\0\0'
	printf '\0\0\20\0\0\0\0\0\0\0\40\0\0\0\0\0\0\0\0\0\0\0\0\0%s' "$folder/pipe"
	head -c 256 /dev/zero
} >"$folder/hostile"
timeout 3600 "$look" "$folder/hostile" >"$folder/text" 2>&1
[ $? = 2 ] && grep -q 'no program or library in it' "$folder/text"
verdict 'a core that names a pipe: it is not opened'
timeout 3600 "$look" "$folder/pipe" >"$folder/text" 2>&1
[ $? = 2 ] && grep -q 'no ordinary file' "$folder/text"
verdict 'nor one that is given as core'

"$look" >"$folder/usage" 2>&1
[ $? = 2 ] && grep -q '^usage: ashlar-look' "$folder/usage"
verdict 'without arguments it says how it is used'
missing=
for option in $(grep -o '^  --[a-z]*' "$folder/usage"); do
	grep -qF -e "\\-\\-${option#--}" tools/install/ashlar-look.1 || missing="$missing $option"
done
[ -z "$missing" ]
verdict 'each option is in the manual page'
exit $status
