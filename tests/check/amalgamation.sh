#!/bin/sh
# SPDX-License-Identifier: MIT
# The amalgamation is the library: the same text as core/amalgamation.c, no name but the
# public ones, no two objects made one, and lines that are found again.  That it works is
# seen by tests/check/malloc.sh and tests/check/st.sh.
set -u

build=${BUILD:-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

subject='amalgamation'
. tests/support/verdict.sh

clang=clang
case $(${CC:-clang} --version) in *clang*) clang=${CC:-clang} ;; esac

# text FILE FLAG...: what the compiler gets to see, without empty lines.
text() {
	$clang -E -P -ffreestanding -I. -Icore -Isys -Iarch/x86_64 -Icore/include -w "$@" | grep -v '^ *$'
}
same=0
for flags in '' -DASHLAR_PTHREAD -DASHLAR_MALLOC -DASHLAR_SINGLE_THREAD -DASHLAR_SMALL '-DASHLAR_MALLOC -DASHLAR_SO -fPIC' \
	'-DASHLAR_MALLOC -DASHLAR_SINGLE_THREAD -DASHLAR_WITHOUT_XML' -DASHLAR_SAMPLE -DASHLAR_SYSTEM; do
	# shellcheck disable=SC2086 # a list of flags
	text core/amalgamation.c $flags >"$folder/list" && text "$build/amalgamation/ashlar.c" $flags >"$folder/flat" &&
		[ "$(wc -l <"$folder/list")" -gt 4000 ] && diff "$folder/list" "$folder/flat" >"$folder/diff" && same=$((same + 1))
	head -n 5 "$folder/diff" | sed 's/^/     /'
done
[ $same = 9 ]
verdict 'it is the text of core/amalgamation.c, in each variant'

# ---- names ----

# What is not public is static: a prototype without INTERNAL would be seen here.
sed -n 's/^[a-z].*[ *]\(ash_[a-z_]*\)(.*/\1/p' core/include/ashlar.h core/include/ashlar_heap*.h >"$folder/names"
# ash_first_metadata: hidden, and not static, so that the linker places it.
printf "%s\n" ash_defaults ash_last_words ash_descriptor ash_first_metadata >>"$folder/names"
sort -u "$folder/names" >"$folder/expected"
$clang -O0 -w -c "$build/amalgamation/ashlar.c" -o "$folder/one.o" &&
	nm -g --defined-only "$folder/one.o" | awk '{print $3}' | sort >"$folder/found"
cmp -s "$folder/expected" "$folder/found"
verdict 'it shows the public names and no others'
diff "$folder/expected" "$folder/found" | sed 's/^/     /'
nm -u "$folder/one.o" | grep -v _GLOBAL_OFFSET_TABLE_ >"$folder/undefined"
[ ! -s "$folder/undefined" ]
verdict 'it needs no name from elsewhere'
sed 's/^/     /' "$folder/undefined"

# Two functions of one name do not compile; two objects without a value would become one.
# shared OBJECT...: the names of objects that two of these have for themselves.
shared() {
	nm "$@" | awk '$2 ~ /^[bdr]$/ && $3 !~ /\./ {print $3}' | sort | uniq -d
}
mkdir "$folder/malloc"
for file in core/malloc/*.c; do
	name=${file##*/}
	[ "$name" = new.c ] || $clang -ffreestanding -Iarch/x86_64 -Isys -Icore/include -w -c "$file" -o "$folder/malloc/${name%.c}.o"
done
find "$build/lib" -name '*.o' ! -name global_names.o >"$folder/objects"
[ "$(wc -l <"$folder/objects")" -gt 40 ] && [ -f "$folder/malloc/thread.o" ]
verdict 'the objects of the sources are there'
# shellcheck disable=SC2046 # a list
shared $(cat "$folder/objects") "$folder"/malloc/*.o >"$folder/shared"
[ ! -s "$folder/shared" ]
verdict 'no two sources have an object of the same name'
sed 's/^/     /' "$folder/shared"

printf 'static int ready;\nint *planted(void);\nint *planted(void) { return &ready; }\n' >"$folder/planted.c"
$clang -w -c "$folder/planted.c" -o "$folder/planted.o"
[ "$(shared "$folder/planted.o" "$folder/malloc/thread.o")" = ready ]
verdict 'one that is planted is found'

# ---- lines ----

library=$build/libashlar_malloc.so
place=$(addr2line -e "$library" "0x$(nm "$library" | awk '$3 == "ash_alloc" {print $1}')")
case $place in
*core/front/alloc.c:*)
	awk -v last="${place##*:}" 'FNR <= last + 0 && /^[A-Za-z].*\(/ { head = $0 } END { print head }' \
		core/front/alloc.c | grep -q ' \*ash_alloc(size_t size)'
	;;
*) false ;;
esac
verdict 'a debugger finds ash_alloc in its source'
exit $status
