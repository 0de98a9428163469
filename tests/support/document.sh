# SPDX-License-Identifier: MIT
# Sourced by scripts of tests/check that run what a document shows, instead of verdict.sh; `build` is an absolute path.
#
#	```LANGUAGE FILE	a program or another file, to be saved as FILE
#	```sh run [TOOL]	commands; skipped where TOOL is not installed or, a compiler of C or
#				C++, finds no headers.  What follows "  # " is what they print.
# shellcheck shell=sh disable=SC2034,SC2154

top=$(pwd)
. tests/support/verdict.sh

case $build in /*) ;; *) build=$top/$build ;; esac
# Zig as tools/programs/setup leaves it.
PATH=$PATH:$build/zig/ziglang
# The kernel's tools/include/nolibc, as that or tests/kernel/setup leave it.
for NOLIBC in ${NOLIBC:+"$NOLIBC"} "$build/nolibc" "$build/kernels/source/tools/include/nolibc"; do
	[ ! -f "$NOLIBC/nolibc.h" ] || break
done
# QuickJS-NG, as the first leaves it.
QUICKJS=${QUICKJS:-$build/quickjs}
export NOLIBC QUICKJS PATH ZIG_GLOBAL_CACHE_DIR="$build/zig/cache" ZIG_LOCAL_CACHE_DIR="$build/zig/cache"

# A tree as after make, in which the programs may leave their files.
tree=$folder/tree
mkdir -p "$tree/build"
for file in "$top"/* "$build"/*; do
	case $file in
	"$top/build") ;;
	"$build"/*) ln -s "$file" "$tree/build/" ;;
	*) ln -s "$file" "$tree/" ;;
	esac
done

# Programs go to their places in the tree, commands to N.sh, and what these print to N.prints.
extract() {
	awk -v tree="$tree" -v folder="$folder" '
	/^```/ && out != "" { close(out); out = ""; next }
	/^```sh run/ {
		out = folder "/" ++n ".sh"
		print $3 >(folder "/" n ".tool")
		next
	}
	/^```[a-z]+ / {
		out = tree "/" $2
		print $2 >(folder "/programs")
		place = out
		sub(/\/[^\/]*$/, "", place)
		system("mkdir -p " place)
		next
	}
	out != "" { print >out }
	' "$1"
	for script in "$folder"/*.sh; do
		sed -n 's/^.*[^ ].*  # //p' "$script" >"${script%.sh}.prints"
	done
}

# is_usable TOOL: it is there, and a compiler finds the headers of its library.
is_usable() {
	case $1 in
	*++) echo '#include <cstdio>' | "$1" -x c++ -c - -o "$folder/empty.o" 2>/dev/null ;;
	cc | *-gcc | clang) echo '#include <stdio.h>' | "$1" -x c -c - -o "$folder/empty.o" 2>/dev/null ;;
	rust-musl) [ -d "$(rustc --print sysroot 2>/dev/null)/lib/rustlib/x86_64-unknown-linux-musl/lib" ] ;;
	rust-1.*) [ "$(rustc --version 2>/dev/null | sed 's/^rustc 1\.\([0-9]*\).*/\1/')" -ge "${1#rust-1.}" ] 2>/dev/null && [ "$(uname -m)" = x86_64 ] ;;
	nolibc) [ -f "$NOLIBC/nolibc.h" ] && is_usable cc ;;
	quickjs) [ -f "$QUICKJS/quickjs.h" ] && is_usable cc ;;
	lua5.4) pkg-config --exists lua5.4 2>/dev/null && is_usable cc ;;
	nim-musl) command -v nim >/dev/null && is_usable musl-gcc ;;
	go) command -v go >/dev/null && command -v pkg-config >/dev/null && [ "$(go env CGO_ENABLED)" = 1 ] && is_usable cc ;;
	clang-memory) echo 'int main(void) { return 0; }' | clang -fsanitize=memory -x c - -o "$folder/empty.o" 2>/dev/null ;;
	clang-armv7m) echo 'int x;' | clang --target=armv7m-none-eabi -x c -c - -o "$folder/empty.o" 2>/dev/null ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

# run_document FILE: all of its commands, in their order; those that need one of TOOLS, if that is set; not those that need
# one of LATER, but in make test-long.
run_document() {
	number=1
	while [ -f "$folder/$number.sh" ]; do
		script=$folder/$number.sh
		read -r tool <"$folder/$number.tool"
		name="commands $number ($(sed -n 's/^.* -o build\///p; s/^make .*/&/p' "$script" | head -n 1))"
		if [ -n "${TOOLS:-}" ] && ! case " $TOOLS " in *" ${tool:-none} "*) ;; *) false ;; esac; then
			:
		elif [ -z "${STEPS_FULL:-}" ] && case " ${LATER:-} " in *" ${tool:-none} "*) ;; *) false ;; esac; then
			echo "skip $subject: $name: they compile for seconds, and run in make test-long"
		elif [ -n "$tool" ] && ! is_usable "$tool"; then
			echo "skip $subject: $name: $tool is not here, or finds no library"
		else
			(cd "$tree" && sh -eu "$script") >"$folder/printed" 2>"$folder/errors" </dev/null &&
				! grep -q 'warning' "$folder/errors"
			verdict "$name run, without a warning" "$folder/errors"
			# What make says, should it have something to do, is no output of the programs.
			grep -vE '^(CC|AS|AR|LINK|MAKE|COPY) |^make' "$folder/printed" >"$folder/said"
			cmp -s "$folder/said" "$folder/$number.prints"
			verdict "$name print what $1 says"
			diff "$folder/$number.prints" "$folder/said" | sed 's/^/     /'
		fi
		number=$((number + 1))
	done
}
