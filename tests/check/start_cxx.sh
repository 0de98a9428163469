#!/bin/sh
# SPDX-License-Identifier: MIT
# C++ without a C library or a C++ library: libashlar_start.a has operator new and delete, and makes
# and destroys static objects.
. tests/support/verdict.sh

cat >"$folder/program.cpp" <<'C'
#include <ashlar.h>
#include <ashlar_start.h>
#include <new>
static char said[20];
static int length;
struct said_at_the_end final {
	char letter;
	explicit said_at_the_end(char c) : letter(c) { said[length++] = c; }
	virtual void say() { said[length++] = '.'; }
	~said_at_the_end()
	{
		said[length++] = letter;
		if (letter == 'a')
			ash_write(1, said, static_cast<size_t>(length));
	}
};
static said_at_the_end a('a'), b('b');
static said_at_the_end &late() { static said_at_the_end c('c'); return c; }
struct alignas(256) wide { char bytes[256]; };
static int calls;
__attribute__((constructor)) static void first() { calls++; }
extern "C" int main()
{
	struct ash_statistics s;
	int *one = new int(7), *many = new int[1000], *none = new (std::nothrow) int[1ul << 50];
	wide *w = new wide;
	if (*one != 7 || none || reinterpret_cast<size_t>(w) % 256 || ash_usable_size(many) < 4000 || calls != 1)
		return 1;
	late().say();
	said_at_the_end *object = new said_at_the_end('d');
	ash_stats(&s);
	if (s.blocks != 4)
		return 2;
	delete object;
	delete w;
	delete[] many;
	delete one;
	ash_stats(&s);
	return s.blocks == 0 && ash_check() == 0 ? 42 : 3;
}
C
flags="-std=c++17 -O2 -Wall -Werror -ffreestanding -nostdlib -fno-stack-protector -fno-exceptions -fno-rtti -fno-threadsafe-statics -I$build/include"
for compiler in clang++ g++; do
	if ! command -v $compiler >/dev/null; then
		echo "skip $subject: by $compiler: it is not here"
		continue
	fi
	for how in '-static -fno-pie' '-static-pie -fPIE' '-static -fuse-ld=lld'; do
		for library in libashlar libashlar-small; do
			# shellcheck disable=SC2086 # lists of words
			$compiler $flags $how -Wl,--gc-sections "$folder/program.cpp" "$build/libashlar_start.a" "$build/$library.a" \
				-o "$folder/program" 2>"$folder/errors"
			found=$("$folder/program")
			[ $? = 42 ] && [ "$found" = abc.ddcba ]
			verdict "$library.a by $compiler $how" "$folder/errors"
		done
	done
done
exit $status
