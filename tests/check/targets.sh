#!/bin/sh
# SPDX-License-Identifier: MIT
# The Makefile in other places: a fresh clone, another build folder, a path with a space, a machine without some tools.
. tests/support/verdict.sh

make=${MAKE:-make}

# plans TARGET SCRIPT...: in a fresh clone make TARGET builds each product that the scripts take from the build folder.
plans() {
	target=$1
	shift
	MAKEFLAGS= "$make" -n BUILD="$folder/fresh" PYTHON=sh "$target" >"$folder/plan" 2>&1
	grep -o '"\$build/[a-z_]*\.\(a\|so\)"' "$@" | sed 's/.*build.//; s/"//' | sort -u >"$folder/taken"
	[ -s "$folder/taken" ]
	good=$?
	while read -r product; do
		# The archive for musl is left out where there is none.
		[ "$product" = libashlar_malloc.a ] || grep -q "'[A-Z]* *$folder/fresh/$product'" "$folder/plan" || {
			echo "     $product is not made"
			good=1
		}
	done <"$folder/taken"
	[ $good = 0 ]
	verdict "make $target builds what it takes" "$folder/plan"
}
plans bench-cost tools/bench/build tools/bench/cost
plans bench tools/bench/build tools/bench/compare tools/bench/footprint

# The amalgamation and the staged headers lie in the build folder: no object has its name.
there=$folder/elsewhere
mkdir -p "$there/include" "$there/amalgamation"
echo 'static inline const char *in_header(void) { return __FILE__; }' >"$there/include/in.h"
printf '#include "in.h"\nconst char *in_source(void);\nconst char *in_source(void) { return *__FILE__ ? in_header() : ""; }\n' \
	>"$there/amalgamation/it.c"
for place in "$there" "$(realpath --relative-to=. "$there")"; do
	eval "$(MAKEFLAGS= "$make" -s --no-print-directory BUILD="$place" flags)"
	$COMPILE -c "$place/amalgamation/it.c" -o "$folder/it.o" && ! grep -q "${there##*/}" "$folder/it.o" &&
		grep -q 'build/include/in.h' "$folder/it.o"
	verdict "no object names the build folder ${place%%/*}/..."
done
[ "$(MAKEFLAGS= "$make" -s --no-print-directory BUILD="$PWD/$build" flags)" = "$(MAKEFLAGS= "$make" -s --no-print-directory BUILD="$build" flags)" ]
verdict 'a build folder in the tree may be named in full'

# The flags of a CPU are those of the compiler's CPU, if ARCH is not given.
printf '#!/bin/sh\n[ "$*" != -dumpmachine ] || { echo aarch64-linux-gnu; exit; }\nexec clang --target=aarch64-linux-gnu "$@"\n' >"$folder/cc"
chmod +x "$folder/cc"
MAKEFLAGS= "$make" -s --no-print-directory CC="$folder/cc" BUILD="$folder/aarch64" flags 2>/dev/null | grep -q -- -mno-outline-atomics
verdict "a native build on aarch64 has that CPU's flags"

# says TEXT COMMAND...: it fails, with that.
says() {
	text=$1
	shift
	! "$@" >"$folder/said" 2>&1 && grep -q "$text" "$folder/said"
	verdict "says: $text" "$folder/said"
}
mkdir "$folder/a b"
cp Makefile "$folder/a b"
MAKEFLAGS=
export MAKEFLAGS
says 'has a space in it' "$make" -C "$folder/a b"
says 'has a space in it' "$make" BUILD="$folder/a b" all
says 'make figures needs no-such-python; install it with: sudo apt-get install python3' "$make" figures PYTHON=no-such-python
# A machine with gcc alone; no apt-get, or make setup would install clang.
mkdir "$folder/bin"
for tool in /usr/bin/* /bin/*; do
	case ${tool##*/} in clang* | apt-get) ;; *) ln -s "$tool" "$folder/bin/" 2>/dev/null ;; esac
done
mkdir "$folder/gcc" && for each in Makefile arch core sys tools tests linker.ld; do ln -s "$PWD/$each" "$folder/gcc/"; done
says 'by gcc and lld: make CC=gcc' env PATH="$folder/bin" "$make" -C "$folder/gcc"
if [ -e "$folder/bin/gcc" ]; then
	env PATH="$folder/bin" "$make" -n -C "$folder/gcc" CC=gcc >"$folder/said" 2>&1 && grep -q libashlar_malloc.so "$folder/said"
	verdict 'with CC=gcc, and no clang, it plans the libraries' "$folder/said"
else
	echo 'skip targets: with CC=gcc, and no clang: no gcc here'
fi
exit $status
