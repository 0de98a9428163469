# SPDX-License-Identifier: MIT
# Sourced by scripts of tests/check that link the amalgamation, as a compiler makes it, with a test program.
# They have set `build` and `folder`.
# shellcheck shell=sh disable=SC2154

# amalgamated COMPILER [FLAG]: $folder/one.o, compiled once for all scripts; $folder/errors: what the
# compiler said.  False: it failed.
amalgamated() {
	kept=$build/amalgamation/$1${2:-}
	if [ ! "$kept.o" -nt "$build/amalgamation/ashlar.c" ]; then
		# As the test programs are: linker.ld has no place for other things.
		(cd "$build/amalgamation" && "$1" -O2 -Wall -Wextra -ffreestanding -fno-pie -fno-stack-protector \
			-fno-asynchronous-unwind-tables ${2:+"$2"} -c ashlar.c -o "$folder/one.o") 2>"$folder/errors" || return
		cp "$folder/errors" "$kept.errors"
		# GNU's assembler asks for a table that nothing refers to.
		[ "$1" != gcc ] || objcopy -N _GLOBAL_OFFSET_TABLE_ "$folder/one.o"
		# In one step, or a script that is stopped would leave a part of it to the others.
		cp "$folder/one.o" "$kept.o.$$" && mv "$kept.o.$$" "$kept.o"
	fi
	cp "$kept.errors" "$folder/errors"
	cp "$kept.o" "$folder/one.o"
}
