#!/bin/sh
# SPDX-License-Identifier: MIT
# Plants each fault that tools/layers looks for in a small tree, and sees it caught.
. tests/support/verdict.sh

tools=$(pwd)/tools
tree=$folder

spdx='/* SPDX-License-Identifier: MIT */'

# A clean tree with one file of each layer.
fresh() {
	rm -rf "${tree:?}"/*
	cd "$tree" || exit 1
	mkdir -p arch/x86_64 sys core/base core/backend core/store/file core/include core/malloc tests/runtime tests/api \
		tests/inner tests/program tests/support tools/demo
	echo "$spdx" | tee arch/x86_64/cpu.h arch/x86_64/syscall.h sys/pages.h \
		core/include/ashlar.h core/include/ashlar_heap.h tests/runtime/rt.h tests/runtime/tls.h \
		tests/support/stamp.h tests/inner/slots.h >linker.ld
	source core/backend/heap.h 'extern struct heap *heap_hooks;' 'extern struct heap {' '	int members;' '} heap_default;' \
		'void heap_enter(struct heap *h,' '		__attribute__((unused)) int many);' \
		'static inline int heap_one(void)' '{' '	int heap_enter(void);' '	return 1;' '}' \
		'typedef void (*heap_call)(void);' '#define heap_macro(x) heap_gone(x);'
	source arch/x86_64/memory.c '#include <stddef.h>' '#ifdef __x86_64__'
	source sys/pages.c '#include "pages.h"' '#include "syscall.h"' '#include "cpu.h"'
	source core/backend/heap.c '#include "backend/heap.h"' '#include "pages.h"' '#include "cpu.h"' '#include "ashlar.h"' \
		'struct heap heap_default = {1}; /* of; this */' 'struct heap *heap_hooks;' \
		'void heap_enter(struct heap *h,' '		int many)' '{' '	heap_hooks = h;' '}'
	source core/backend/map.h '#include "backend/heap.h"'
	source core/backend/map.c '#include "backend/map.h"'
	source core/store/allocator.h '#include "backend/heap.h"'
	source core/store/file/store.h '#include "store/allocator.h"'
	source core/malloc/malloc.c '#include "ashlar.h"'
	source tests/runtime/start.c '#include "rt.h"' '#include "syscall.h"'
	source tests/api/alloc.c '#include "ashlar.h"' '#include "rt.h"' '#include "support/stamp.h"'
	source tests/inner/heap.c '#include "backend/heap.h"' '#include "rt.h"'
	source tests/program/fault.c '#include "syscall.h"' '#include "pages.h"' '#include "inner/slots.h"'
	source tools/demo/demo.c '#include <ashlar.h>' '#include "rt.h"'
	source tools/host.c '#include <stdio.h>'
}

# source FILE LINE...
source() {
	file=$1
	shift
	printf '%s\n' "$spdx" "$@" >"$file"
}

subject='layers finds'

# caught NAME RULE: exactly this rule fails.
caught() {
	[ "$(sh "$tools/layers" "$tree" 2>&1 | grep '^FAIL')" = "FAIL layers: $2" ]
	verdict "$1"
}

# planted NAME FILE LINE: an include where it must not be.
planted() {
	fresh
	echo "$3" >>"$2"
	caught "$1" 'includes go downwards'
}

fresh
sh "$tools/layers" "$tree" >/dev/null
verdict 'nothing in a clean tree'

planted 'arch that includes sys' arch/x86_64/memory.c '#include "pages.h"'
planted 'sys that includes core' sys/pages.c '#include "backend/heap.h"'
planted 'core that includes a system call' core/backend/heap.c '#include "syscall.h"'
planted 'core that includes the runtime' core/backend/heap.c '#include "../tests/runtime/rt.h"'
planted 'an allocator that includes the store' core/backend/map.c '#include "store/file/store.h"'
planted 'a store that goes round its header' core/store/file/store.h '#include "backend/map.h"'
planted 'a public header that includes an inner one' core/include/ashlar_heap.h '#include "backend/heap.h"'
planted 'a facade that includes core' core/malloc/malloc.c '#include "../backend/heap.h"'
planted 'a runtime that includes Ashlar' tests/runtime/start.c '#include "ashlar.h"'
planted 'a test that includes core' tests/api/alloc.c '#include "backend/heap.h"'
planted 'a test that includes what inner tests share' tests/api/alloc.c '#include "inner/slots.h"'
planted 'what all tests share that includes core' tests/support/stamp.h '#include "backend/heap.h"'
planted 'a tool that includes core' tools/host.c '# include "../core/backend/heap.h"'
planted 'a demo that includes a libc' tools/demo/demo.c '#include <stdio.h>'
planted 'core that includes a libc' core/backend/heap.c '#include <string.h>'
planted 'a header that is nowhere' core/backend/heap.c '#include "gone.h"'

fresh
echo '#include "backend/map.h"' >>core/backend/heap.c
caught 'a cycle of modules' 'no cycle of modules'
[ "$(sh "$tools/layers" "$tree" | grep -c '^     core/backend/\(map\|heap\) -> core/backend/\(map\|heap\) -> core/backend/\(map\|heap\)$')" = 1 ]
verdict 'the loop of a cycle'

# elsewhere NAME PROTOTYPE DEFINITION: declared in heap.h, defined in map.c.
elsewhere() {
	fresh
	echo "$2" >>core/backend/heap.h
	echo "$3" >>core/backend/map.c
	caught "$1" 'each prototype stands in the header of its file'
}
elsewhere 'a function that is defined elsewhere' 'void map_enter(void);' 'void map_enter(void) {}'
elsewhere 'a prototype of two lines' 'int map_enter(int a,
	int b);' 'int map_enter(int a, int b) { return a + b; }'
elsewhere 'an object that is defined elsewhere' 'extern struct heap map_root[2];' 'struct heap map_root[2];'
elsewhere 'a function that is defined nowhere' 'void map_gone(void);' '/* void map_gone(void) {} */'
elsewhere 'a function that is only called' 'void map_gone(void);' 'void map_enter(void) { map_gone(); }'

fresh
echo 'void heap_more(void);' >>core/backend/heap.h
source core/backend/heap_more.c '#include "backend/heap.h"' 'void heap_more(void) {}'
sh "$tools/layers" "$tree" >/dev/null
verdict 'nothing in a file that has no header but that of its module'
source core/backend/heap_more.h 'void heap_most(void);'
echo 'void heap_most(void) {}' >>core/backend/heap_more.c
caught 'a function of a file that has a header of its own' 'each prototype stands in the header of its file'

fresh
source core/backend/heap_more.c '#include "backend/map.h"'
caught 'a cycle through a file without a header' 'no cycle of modules'

fresh
echo '#if defined(__x86_64__)' >>core/backend/heap.c
caught 'a CPU named in core' 'no CPU is named outside arch/'

fresh
echo 'int heap(uint64_t *w) { return load_acquire(&w->units) != 0; }' >>core/backend/heap.c
caught 'an order without a comment' 'each word with an order has a comment that names its pair'

fresh
echo 'void heap(void) { fence_acquire(); }' >>sys/pages.c
caught 'a fence without a comment' 'each word with an order has a comment that names its pair'

fresh
printf '%s\n' '/* Pairs with heap. */' 'int heap(uint64_t *w) { return load_acquire(&w->units) != 0; }' >>sys/pages.c
sh "$tools/layers" "$tree" >/dev/null
verdict 'nothing in an order with a comment'

fresh
echo 'int x;' >sys/bare.c
caught 'a source without licence' 'every source has its SPDX line'

fresh
printf '#!/bin/sh\n' >tools/bare
caught 'a script without licence' 'every source has its SPDX line'

fresh
touch notes.txt
caught 'a stray file at the top' 'the top level has nothing else'

fresh
source core/backend/heap.c 'void gone(void);' 'void heap(void) {gone();}'
clang -c core/backend/heap.c -o "$tree/heap.o" && ar qcs "$tree/build.a" heap.o
[ "$(sh "$tools/layers" "$tree" "$tree/build.a" | grep -c 'build.a needs no symbol\|     gone')" = 2 ]
verdict 'an undefined symbol'

fresh
for i in $(seq 300); do echo; done >>core/backend/heap.c
sh "$tools/layers" "$tree" | grep -q '^note: core/backend/heap.c'
verdict 'a long file'

exit $status
