#!/bin/sh
# SPDX-License-Identifier: MIT
# The amalgamation is the library: the same text as core/amalgamation.c, no name but the
# public ones, no two objects made one, and lines that are found again.  That it works is
# seen by tests/check/malloc.sh.
. tests/support/verdict.sh

clang=clang
case $(${CC:-clang} --version) in *clang*) clang=${CC:-clang} ;; esac

# text FILE FLAG...: what the compiler gets to see, without empty lines.
text() {
	$clang -E -P -ffreestanding -I. -Icore -Isys -Iarch/x86_64 -Icore/include -w "$@" | grep -v '^ *$'
}
same=0
for flags in '' -DASHLAR_PTHREAD -DASHLAR_MALLOC -DASHLAR_SMALL '-DASHLAR_MALLOC -DASHLAR_SO -fPIC' \
	'-DASHLAR_MALLOC -DASHLAR_PTHREAD' -DASHLAR_SAMPLE -DASHLAR_SYSTEM -DASHLAR_LIBC \
	-DASHLAR_HARDENED '-DASHLAR_MALLOC -DASHLAR_HARDENED' '-DASHLAR_MALLOC -DASHLAR_SAMPLE'; do
	# shellcheck disable=SC2086 # a list of flags
	text core/amalgamation.c $flags >"$folder/list" && text "$build/amalgamation/ashlar.c" $flags >"$folder/flat" &&
		[ "$(wc -l <"$folder/list")" -gt 2000 ] && diff "$folder/list" "$folder/flat" >"$folder/diff" && same=$((same + 1))
	head -n 5 "$folder/diff" | sed 's/^/     /'
done
[ $same = 12 ]
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
verdict 'it needs no name from elsewhere' "$folder/undefined"

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
verdict 'no two sources have an object of the same name' "$folder/shared"

printf 'static int ready;\nint *planted(void);\nint *planted(void) { return &ready; }\n' >"$folder/planted.c"
$clang -w -c "$folder/planted.c" -o "$folder/planted.o"
[ "$(shared "$folder/planted.o" "$folder/malloc/thread.o")" = ready ]
verdict 'one that is planted is found'

# ---- lines ----

library=$build/libashlar_malloc.so
place=$(addr2line -i -e "$library" "0x$(nm "$library" | awk '$3 == "ash_alloc" {print $1}')" | tail -n 1) # the fast path is inlined in it
case $place in
*core/front/alloc.c:*)
	awk -v last="${place##*:}" 'FNR <= last + 0 && /^[A-Za-z].*\(/ { head = $0 } END { print head }' \
		core/front/alloc.c | grep -q ' \*ash_alloc(size_t size)'
	;;
*) false ;;
esac
verdict 'a debugger finds ash_alloc in its source'

# ---- what a compiler needs ----

# Without optimisation nothing is left of what a variant has not; and no call is inlined so often that a compiler takes
# more memory than others' files of that size do.  The hardened variant is compiled in 122 MB at -O3, and 204 with checks.
cat >"$folder/needs.c" <<'C'
#include <stdlib.h>
#include <string.h>
#include <ashlar.h>
int main(void)
{
	char *volatile p = malloc(100), *volatile q = calloc(10, 1000000);
	memset(p, 1, 100);
	p = realloc(p, 300000);
	q = realloc(q, 3000);
	int wrong = p[99] != 1 || q[2999] != 0;
	free(p);
	free(q);
	return wrong != 0 || ash_check() != 0;
}
C
# needs KB FLAG...: gcc compiles it with so much address space; the program links, and works.
needs() {
	kilobytes=$1
	shift
	rm -f "$folder/needs" "$folder/needs.o"
	# shellcheck disable=SC3045 # dash and bash have it
	(ulimit -v "$kilobytes" && gcc -w -I"$build/amalgamation" "$@" -c "$build/amalgamation/ashlar.c" -o "$folder/needs.o") \
		>"$folder/needs.log" 2>&1 &&
		gcc -w -I"$build/amalgamation" "$@" "$folder/needs.c" "$folder/needs.o" -o "$folder/needs" >>"$folder/needs.log" 2>&1 &&
		"$folder/needs" >>"$folder/needs.log" 2>&1
	verdict "gcc $* needs less than $((kilobytes / 1000)) MB, and it works" "$folder/needs.log"
}
if command -v gcc >/dev/null; then
	for level in -O0 -O3 ${STEPS_FULL:+-O1 -O2}; do
		needs 300000 "$level" -DASHLAR_MALLOC -DASHLAR_HARDENED
	done
	[ -z "${STEPS_FULL:-}" ] || needs 300000 -O0 -DASHLAR_MALLOC
	for level in -O1 ${STEPS_FULL:+-O0 -O2 -O3}; do
		needs 400000 "$level" -DASHLAR_MALLOC -DASHLAR_HARDENED -fsanitize=undefined
	done
else
	echo "skip $subject: what gcc needs: it is not here"
fi

# ---- link-time optimisation ----

# It divides the program into objects, and puts assembly at file level into one of them.  The program
# works, and the note leads to the descriptor.
cat >"$folder/lto.c" <<'C'
#include <ashlar.h>
#include <ashlar_descriptor.h>
#include <elf.h>
#include <link.h>
#include <string.h>
static int leads(struct dl_phdr_info *o, size_t bytes, void *found)
{
	for (int i = 0; bytes > 0 && i < o->dlpi_phnum; i++) {
		const char *note = (const char *)(o->dlpi_addr + o->dlpi_phdr[i].p_vaddr), *value = note + 24;
		if (o->dlpi_phdr[i].p_type != PT_NOTE)
			continue;
		for (const char *end = note + o->dlpi_phdr[i].p_memsz; value < end; value += 32)
			if (memcmp(value - 12, ASH_DESCRIPTOR_NAME, 12) == 0)
				*(int *)found |= value + *(const long *)value == (const char *)&ash_descriptor;
	}
	return 0;
}
int main(void)
{
	int found = 0;
	char *p = ash_alloc(100), *large = ash_alloc(5 << 20);
	memset(large, 1, 5 << 20);
	ash_release(large);
	ash_release(p);
	dl_iterate_phdr(leads, &found);
	return p != NULL && found && ash_check() == 0 ? 0 : 1;
}
C
# lto NAME COMMAND...: it links, and works, as malloc or not.
lto() {
	name=$1
	shift
	rm -f "$folder/lto"
	"$@" -w -D_GNU_SOURCE -flto -I"$build/amalgamation" "$build/amalgamation/ashlar.c" "$folder/lto.c" -o "$folder/lto" \
		>"$folder/lto.log" 2>&1 && "$folder/lto"
	verdict "with -flto it links and works: $name" "$folder/lto.log"
}
# full: all of them; else one of each thing.
if command -v gcc >/dev/null; then
	lto 'gcc, malloc' gcc -O1 -fPIE -pie -DASHLAR_MALLOC
	[ -z "${STEPS_FULL:-}" ] || lto 'gcc, malloc, fat objects' gcc -O1 -ffat-lto-objects -fPIE -pie -DASHLAR_MALLOC
	for flags in ${STEPS_FULL:+-O1 -O2 -O3}; do
		for more in '-fPIE -pie' '-fno-pie -no-pie' '-fPIC -ffat-lto-objects' -flto-partition=max; do
			# shellcheck disable=SC2086 # a list of flags
			lto "gcc $flags $more" gcc "$flags" $more
		done
	done
else
	echo "skip $subject: -flto by gcc, which is not here"
fi
if command -v ld.lld >/dev/null; then
	lto clang "$clang" -fuse-ld=lld -O1
	for flags in ${STEPS_FULL:+-O2 -O3}; do
		lto "clang $flags, position independent" "$clang" -fuse-ld=lld "$flags" -fPIE -pie
		lto "clang $flags, not" "$clang" -fuse-ld=lld "$flags" -fno-pie -no-pie
	done
else
	echo "skip $subject: -flto by clang, without lld"
fi
exit $status
