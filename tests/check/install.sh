#!/bin/sh
# SPDX-License-Identifier: MIT
# What is installed is what users find: by pkg-config, by CMake, by Meson; each function has its
# manual page; and a source release builds without git.
. tests/support/verdict.sh

there=$folder/there
prefix=/opt/ashlar
BUILD=$build PREFIX=$prefix DESTDIR=$there sh tools/install/install 2>"$folder/errors" && [ ! -s "$folder/errors" ]
verdict 'it installs, without a word' "$folder/errors"
missing=
for file in "$build"/libashlar*.a "$build"/libashlar*.so "$build"/include/*; do
	[ -n "$(find "$there$prefix" -name "${file##*/}")" ] || missing="$missing ${file##*/}"
done
[ -f "$there$prefix/share/doc/ashlar/LICENSE" ] && [ -z "$missing" ]
verdict "each library and header, and the licence$missing"
grep -oE '\]\([^):]*\)' "$there$prefix/share/doc/ashlar/README.md" | sed 's/^](//; s/)$//' | sort -u >"$folder/links"
grep -qx LICENSE "$folder/links" || grep -qx CHANGELOG.md "$folder/links" && ! (cd "$there$prefix/share/doc/ashlar" && xargs ls -d) <"$folder/links" 2>&1 | grep 'cannot access'
verdict "each link of the README is to a file beside it"
# Of another folder than the one that was named, nothing is known.
! grep -rIl -e "$folder" -e "$(pwd)" "$there$prefix/lib" >"$folder/named"
verdict 'no file names the place where it was built'

version=$(sh tools/install/version)
for tool in ashlar-look ashlar-check; do
	[ ! -f "$there$prefix/bin/$tool" ] || [ "$("$there$prefix/bin/$tool" --version)" = "$tool $version" ]
	verdict "$tool --version"
done
cp -r "$there" "$folder/gone" && : >"$folder/gone$prefix/bin/of-another"
BUILD=$build PREFIX=$prefix DESTDIR=$folder/gone sh tools/install/uninstall &&
	[ "$(find "$folder/gone" ! -type d)" = "$folder/gone$prefix/bin/of-another" ] &&
	[ -z "$(cd "$folder/gone$prefix" && find . -type d | grep -E '/(ashlar|gdb)(/|$)')" ] && [ -d "$folder/gone$prefix/lib/pkgconfig" ]
verdict 'what is uninstalled is gone with the folders that were its own, and nothing else'
"${MAKE:-make}" -s help >"$folder/help" && grep -q '^make uninstall\|^make install .*make uninstall' "$folder/help" && ! grep -q '#' "$folder/help"
verdict 'make help prints the targets'

[ "$("${MAKE:-make}" -s --no-print-directory setup)" = 'setup: all that the build and the tests need is here' ]
verdict 'make setup says that all is there'

# ---- manual pages ----

man=$there$prefix/share/man
for name in $(sed -n 's/^[a-z].*[ *]\(ash[a-z]*_[a-z_]*\)(.*/\1/p' core/include/*.h sys/start/ashlar_start.h); do
	[ -f "$man/man3/$name.3" ] || echo "     no page: $name"
	grep -q "$name" "$man/man3/ashlar.3" || echo "     not in ashlar.3: $name"
done >"$folder/missing"
[ ! -s "$folder/missing" ] && [ "$(find "$man/man3" -name 'ash*.3' | wc -l)" -gt 60 ]
verdict 'each function has a page, and is in ashlar(3)'
cat "$folder/missing"
for name in $(cut -d ' ' -f 1 tools/install/names) ash_defaults ash_last_words ash_statistics ash_class; do
	[ -f "$man/man3/$name.3" ] || echo "     no page: $name"
done >"$folder/missing"
sed -n '/^.SH NAME/ { n; /^[a-z_.\\-]* \\- [a-z][^.;]\{4,60\}$/!p; }' "$man"/man3/*.3 | grep -v '^ashlar \\-' >>"$folder/missing"
! grep -q '/\*' "$man/man3/ashlar.3" && grep -q 'interrupt' "$man/man3/libashlar-field.3"
verdict 'the list of functions has no comment, and the library without a system a page'
[ ! -s "$folder/missing" ]
verdict 'objects and structures have pages, and each page a short phrase for its name'
cat "$folder/missing"
[ "$(grep -l 'Thread, signal and fork safety' "$man"/man3/*.3)" = "$man/man3/ashlar.h.3" ] && grep -q '^\.BR ashlar\.h (3)' "$man/man3/ash_alloc.3" &&
	grep -q 'ASH_HUGE_NEVER' "$man/man3/ash_defaults.3"
verdict 'what holds for a whole header is in one page, to which the others refer'
for tool in "$there$prefix"/bin/*; do
	[ -f "$man/man1/${tool##*/}.1" ] || echo "     no page: $tool"
done >"$folder/missing"
[ ! -s "$folder/missing" ]
verdict 'each tool has a page'
cat "$folder/missing"
grep -q '^Returns a block of at least' "$man/man3/ash_alloc.3" && grep -q 'unique block' "$man/man3/ash_alloc.3" &&
	grep -q 'struct ash_block {' "$man/man3/ash_find.3" && grep -q 'ash_find(const void \*p' "$man/man3/ash_find.3"
verdict 'a page is the comment and the prototype of the header, and its structures'
# A function without a contract is refused.
mkdir -p "$folder/tree/tools" "$folder/tree/core" "$folder/tree/sys"
cp -r tools/install tools/ashlar-check tools/ashlar-folded "$folder/tree/tools"
cp -r core/include "$folder/tree/core" && cp -r sys/start "$folder/tree/sys" &&
	printf 'void ash_bare(void);\n' >>"$folder/tree/core/include/ashlar_malloc.h" &&
	! (cd "$folder/tree" && sh tools/install/pages "$folder/pages") 2>"$folder/errors" &&
	grep -q 'ash_bare has no contract' "$folder/errors"
verdict 'a function without a contract is found'
lint=
echo '.TH A 1' >"$folder/empty.1"
for each in 'mandoc -T lint -W error' 'groff -man -Tutf8 -ww -z'; do
	[ -n "$lint" ] || ! $each "$folder/empty.1" >/dev/null 2>&1 || lint=$each
done
if [ -n "$lint" ]; then
	for page in "$man"/man[13]/*; do
		$lint "$page"
	done >"$folder/said" 2>&1
	[ ! -s "$folder/said" ]
	verdict 'the pages are well formed' "$folder/said"
else
	echo 'skip install: the pages are well formed: neither groff nor mandoc is here'
fi

# ---- programs ----

cp tests/check/bare.c "$folder"
cat >"$folder/hosted.c" <<'C'
#include <ashlar.h>
#include <ashlar_malloc.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	void *p = malloc(10), *q = ash_alloc(10);
#ifdef IS_MALLOC
	int is = ashlar_is_malloc();
#else
	int is = 0;
#endif
	printf("%d %zu\n", is, ash_usable_size(q));
	free(p);
	ash_release(q);
	return 0;
}
C
hosts=yes
cc "$folder/hosted.c" -I"$build/include" -Icore/include -c -o "$folder/hosted.o" 2>/dev/null || hosts=
library_path=$there$prefix/lib

if ! command -v pkg-config >/dev/null; then
	echo 'skip install: by pkg-config: it is not here'
else
	PKG_CONFIG_SYSROOT_DIR=$there PKG_CONFIG_PATH=$library_path/pkgconfig
	export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_PATH
	for file in "$library_path"/pkgconfig/*.pc; do
		name=${file##*/}
		pkg-config --exists "${name%.pc}" || echo "     $name"
	done >"$folder/bad"
	[ ! -s "$folder/bad" ] && [ "$(pkg-config --modversion ashlar)" = "$version" ]
	verdict 'pkg-config knows each library'
	# shellcheck disable=SC2046 # lists of words, here and below
	clang -ffreestanding -nostdlib -static -Wl,--gc-sections "$folder/bare.c" \
		$(pkg-config --cflags --libs ashlar-start ashlar) -o "$folder/bare" && [ "$("$folder/bare")" = 16 ]
	verdict 'pkg-config: a program without a C library'
	if [ -z "$hosts" ]; then
		echo 'skip install: pkg-config: no compiler with a C library'
	else
		cc "$folder/hosted.c" $(pkg-config --cflags --libs ashlar) -o "$folder/hosted" &&
			[ "$(LD_LIBRARY_PATH=$library_path "$folder/hosted")" = '0 16' ] &&
			cc -DIS_MALLOC "$folder/hosted.c" $(pkg-config --cflags --libs ashlar-malloc) -o "$folder/hosted" &&
			[ "$(LD_LIBRARY_PATH=$library_path "$folder/hosted")" = '1 16' ]
		verdict 'pkg-config: programs with one, beside malloc and as malloc'
		cc -DIS_MALLOC "$folder/hosted.c" $(pkg-config --cflags --libs ashlar-malloc) -Wl,-rpath,"$library_path" -o "$folder/hosted" &&
			[ "$("$folder/hosted")" = '1 16' ]
		verdict '... which -Wl,-rpath has find the shared object'
		BUILD=$build PREFIX=$prefix DESTDIR=$folder/addressed REPOSITORY=https://example.org/a sh tools/install/install &&
		[ "$(grep -lx 'URL: https://example.org/a' "$folder/addressed$prefix"/lib/pkgconfig/*.pc | wc -l)" = "$(ls "$library_path"/pkgconfig/*.pc | wc -l)" ] &&
		! grep -q '^URL' "$library_path"/pkgconfig/*.pc
	verdict 'pkg-config: the address of the repository, if there is one'
	# A folder of libraries that is not PREFIX/lib.
		other=$folder/other
		BUILD=$build PREFIX=$prefix LIBDIR=$prefix/lib/of-cpu DESTDIR=$other sh tools/install/install && [ "$(ls "$other$prefix/lib")" = of-cpu ] &&
			[ -f "$other$prefix/share/gdb/auto-load$prefix/lib/of-cpu/libashlar.so.$version-gdb.py" ] &&
			PKG_CONFIG_SYSROOT_DIR=$other PKG_CONFIG_PATH=$other$prefix/lib/of-cpu/pkgconfig &&
			cc -DIS_MALLOC "$folder/hosted.c" $(pkg-config --cflags --libs ashlar-malloc) -Wl,-rpath,"$other$prefix/lib/of-cpu" -o "$folder/hosted" &&
			[ "$("$folder/hosted")" = '1 16' ]
		verdict 'pkg-config: LIBDIR'
	fi
fi

if ! command -v cmake >/dev/null || [ -z "$hosts" ]; then
	echo 'skip install: by CMake: it is not here, or no compiler with a C library'
else
	cat >"$folder/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.10)
project(user C)
find_package(ashlar 1.0 REQUIRED)
find_package(ashlar REQUIRED)
add_executable(hosted hosted.c)
target_link_libraries(hosted ashlar::shared)
foreach(kind malloc malloc_static)
	add_executable(${kind} hosted.c)
	target_compile_definitions(${kind} PRIVATE IS_MALLOC)
	target_link_libraries(${kind} ashlar::${kind})
endforeach()
add_executable(bare bare.c)
target_compile_options(bare PRIVATE -ffreestanding -fno-stack-protector)
target_link_options(bare PRIVATE -nostdlib -static)
target_link_libraries(bare ashlar::start ashlar::ashlar)
foreach(name small sample field core)
	if(NOT TARGET ashlar::${name})
		message(FATAL_ERROR "no ashlar::${name}")
	endif()
endforeach()
C
	cmake -S "$folder" -B "$folder/cmake" -DCMAKE_PREFIX_PATH="$there$prefix" >"$folder/said" 2>&1 &&
		cmake --build "$folder/cmake" >>"$folder/said" 2>&1 &&
		[ "$("$folder/cmake/hosted") $("$folder/cmake/malloc") $("$folder/cmake/malloc_static") $("$folder/cmake/bare")" = '0 16 1 16 1 16 16' ]
	verdict 'CMake: find_package, and programs with four of its targets' "$folder/said"
	cmake -S "$folder" -B "$folder/cmake64" -Dashlar_DIR="${other:-none}$prefix/lib/of-cpu/cmake/ashlar" >"$folder/said" 2>&1 &&
		cmake --build "$folder/cmake64" >>"$folder/said" 2>&1 && [ "$("$folder/cmake64/hosted") $("$folder/cmake64/bare")" = '0 16 16' ]
	verdict 'CMake: LIBDIR' "$folder/said"
	for asked in 0.1 2.0 1.999; do
		sed "s/ashlar 1.0 REQUIRED/ashlar $asked REQUIRED/" "$folder/CMakeLists.txt" >"$folder/release.txt"
		mkdir -p "$folder/of$asked" && mv "$folder/release.txt" "$folder/of$asked/CMakeLists.txt" && cp "$folder"/*.c "$folder/of$asked" &&
			! cmake -S "$folder/of$asked" -B "$folder/of$asked/cmake" -DCMAKE_PREFIX_PATH="$there$prefix" >"$folder/said" 2>&1 &&
			grep -q 'with requested version "'"$asked" "$folder/said"
		verdict "CMake: version $asked is refused" "$folder/said"
	done
fi

if ! command -v meson >/dev/null || ! command -v ninja >/dev/null || [ -z "$hosts" ]; then
	echo 'skip install: by Meson: meson or ninja is not here'
else
	cat >"$folder/meson.build" <<'C'
project('user', 'c')
executable('hosted', 'hosted.c', c_args: '-DIS_MALLOC', dependencies: dependency('ashlar-malloc'))
C
	(cd "$folder" && meson setup meson && ninja -C meson) >"$folder/said" 2>&1 &&
		[ "$(LD_LIBRARY_PATH=$library_path "$folder/meson/hosted")" = '1 16' ]
	verdict 'Meson: a program with the dependency ashlar-malloc'
fi

# ---- the source release ----

BUILD=$folder sh tools/install/dist >"$folder/said" && BUILD=$folder/again sh tools/install/dist >/dev/null &&
	cmp -s "$folder"/ashlar-*.tar.gz "$folder"/again/ashlar-*.tar.gz
verdict 'a source release, twice the same'
here=$(realpath "$build")
(umask 077 && mkdir "$folder/release" && tar -xzf "$folder"/ashlar-*.tar.gz -C "$folder/release") && cd "$folder"/release/ashlar-* &&
	[ -f LICENSE ] && [ ! -e .git ]
verdict 'it unpacks into a folder of its name'
printf '#!/bin/sh\necho "git: not here" >&2\nexit 127\n' >"$folder/git" && chmod +x "$folder/git"
PATH=$folder:$PATH BUILD=$folder/third sh tools/install/dist >/dev/null && cmp "$folder"/ashlar-*.tar.gz "$folder"/third/ashlar-*.tar.gz >"$folder/said" 2>&1
verdict 'made there without git, with other rights of files, it has the same bytes' "$folder/said"
# Everything in make test-long, a part of it in make test.
PATH=$folder:$PATH MAKEFLAGS= make -s BUILD=build build/libashlar_start.a build/amalgamation/ashlar.c ${STEPS_FULL:+all} >"$folder/said" 2>&1 &&
	[ -f build/libashlar_start.a ] && ! grep -q git "$folder/said"
verdict "${STEPS_FULL:+all of }it builds without git"
grep -v '^[A-Z]' "$folder/said" | head -n 5 | sed 's/^/     /'
for file in build/libashlar*.a build/libashlar*.so build/amalgamation/*; do
	[ ! -f "$file" ] || cmp "$file" "$here/${file#build/}"
done >"$folder/said" 2>&1
[ ! -s "$folder/said" ]
verdict "what is built there is, byte by byte, what is built here: $(ls -d build/libashlar* | wc -l) products" "$folder/said"
exit $status
