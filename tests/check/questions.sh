#!/bin/sh
# SPDX-License-Identifier: MIT
# tools/questions counts by meaning: a question that is planted in other words is found.
. tests/support/verdict.sh

if ! command -v python3 >/dev/null; then
	echo "skip $subject: no python3"
	exit 0
fi
mkdir -p "$folder/sys" "$folder/core/front" "$folder/core/backend" "$folder/tools"
cp tools/questions "$folder/tools"
cp sys/build.h "$folder/sys"
cat >"$folder/core/front/variant.h" <<'C'
#if SAMPLED
void told(void);
#else
#define told() ((void)0)
#endif
C
(cd "$folder" && git init -q .)

# asks TESTS HOOKS KINDS NAME: the numbers of a source that is read from the standard input
asks() {
	cat >"$folder/core/front/planted.c"
	git -C "$folder" add core sys
	found=$(python3 "$folder/tools/questions" 2>"$folder/log")
	[ "$found" = "$1 $2 $3" ] || { echo "$found" >>"$folder/log" && false; }
	verdict "$4" "$folder/log"
}
asks 0 0 0 'a function that asks nothing' <<'C'
#define STEP 8
int next(int n)
{
	return n + STEP; /* IS_HARDENED */
}
C
asks 2 0 0 'a constant, and a macro of the command line in an #if' <<'C'
int one(void)
{
	return IS_HARDENED ? 1 : 2;
}
int two(void)
{
#ifdef ASHLAR_MALLOC
	return 1;
#endif
	return 2;
}
C
asks 3 0 0 'a macro of a macro, an enumerator, and a function of one expression with its caller' <<'C'
#define BYTES (IS_SO * 8)
#define LESS (BYTES - 1)
enum { MOST = IS_MALLOC ? 4 : 5, OTHER = 3 };
static inline bool is_short(void)
{
	return LESS < 8;
}
int long_one(void)
{
	if (is_short())
		return OTHER;
	return MOST;
}
int one(void)
{
	return MOST;
}
C
asks 1 0 0 'a macro with two definitions' <<'C'
#if IS_SMALL
#define ROOM 8
#else
#define ROOM 16
#endif
int one(void)
{
	return ROOM;
}
C
asks 0 2 0 'a hook, and a function with two definitions' <<'C'
#if IS_FIELD
static void end(int n)
{
}
#else
#define end(n) stop(n)
#endif
void one(void)
{
	told();
}
void two(void)
{
	end(2);
}
C
asks 0 0 6 'questions of a kind: the table, the default heap, a pointer that is NULL, and in another name' <<'C'
static inline bool is_plain(const struct heap *h)
{
	return h == &heap_default;
}
void one(struct heap *h)
{
	if (is_plain(h) || heap_kind(h)->gaps)
		two(h);
	if (store_shared(h) != NULL || h->sharing == PAGES_SHARED || heap_hooks_now() != NULL)
		three(h);
}
C
exit $status
