#!/bin/sh
# SPDX-License-Identifier: MIT
# ashlar_is_malloc under valgrind: memcheck's malloc serves, although the name is bound to ours.
. tests/support/verdict.sh

if ! command -v valgrind >/dev/null; then
	echo "skip $subject: it is not here"
	exit 0
fi
cat >"$folder/program.c" <<'C'
#include <stdlib.h>
int ashlar_is_malloc(void);
int main(void) { free(malloc(10)); return 10 + ashlar_is_malloc(); }
C
cc -O1 -fno-builtin "$folder/program.c" "$build/libashlar_malloc.so" -Wl,-rpath,"$(realpath "$build")" -o "$folder/program"
ln -s "$(realpath "$build")/libashlar_malloc.so" "$folder/libashlar_malloc.so.1"
export LD_LIBRARY_PATH="$folder"
# answers CODE COMMAND...
answers() {
	code=$1
	shift
	"$@" >"$folder/log" 2>&1
	[ $? = "$code" ]
}
answers 11 "$folder/program"
verdict 'natively malloc is Ashlar'"'"'s' "$folder/log"
answers 10 valgrind -q "$folder/program"
verdict 'under memcheck it is not' "$folder/log"
answers 11 valgrind -q --soname-synonyms=somalloc=NONE "$folder/program"
verdict 'unless memcheck is told to leave it alone' "$folder/log"
exit $status
