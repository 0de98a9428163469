# SPDX-License-Identifier: MIT
#
#	make            the library: build/libashlar.a, build/include/ashlar.h
#	make test       everything that is checked, natively and under QEMU
#	make test-long  the tests that take minutes (tests/l_*.c), natively; .ci/run makes it, too
#	make demo       the demonstration, natively and under QEMU
#	make demo-shared  a heap shared by processes that are killed; SECONDS=60 for longer
#	make bench      Ashlar against every malloc that is installed: SHORT=1, ROUNDS=n, PEERS=name:library
#	make bench-accept  takes the last figures into README.md
#	make bench-footprint  text, memory and mappings of the smallest programs
#	make bench-seeds  the experiments against the mallocs that are installed
#	make bench-threads  threads, the same way
#	make bench-shared  heaps shared by processes, against private ones and Boost's
#	make tsan       the heap under ThreadSanitizer; tsan-plant: with faults that it must find
#	make mutants    each thing of the sources changed in turn: FILES=... SAMPLE=k/n SLOW=n JOBS=n
#	make golden-accept  takes the instructions of the fast paths as they are now for right
#	make model      the protocol of the bitmaps, by the model checker spin
#	make setup-checkers  installs what tsan and model need, where it may
#	make single     build/single/ashlar.c and ashlar.h: the library as one source
#	make test-programs  real programs with Ashlar as their malloc; needs what make setup-programs installs
#	make install    PREFIX=/usr/local DESTDIR=
#	make clean      removes build/
#
# Another compiler or place: make CC=clang-19 BUILD=/tmp/there; whole commands: make V=1
# A source file is found by its place and name; there is no list to keep.

MAKEFLAGS += --no-builtin-rules

CC    = clang
AR    = ar
BUILD = build

# What gcc calls otherwise.  It builds the library; the tests, the figures and the limits of
# size are for clang.
ifeq ($(shell $(CC) --version 2>/dev/null | grep -c clang),0)
NO_HEADERS := -nostdinc -isystem $(shell $(CC) -print-file-name=include)
PLAIN_LOOPS = -fno-tree-vectorize -fno-unroll-loops
FOR_SIZE    = -Os -mno-red-zone
NOT_THERE   = -Wno-attributes
else
NO_HEADERS  = -nostdlibinc
PLAIN_LOOPS = -fno-vectorize -fno-slp-vectorize -fno-unroll-loops
FOR_SIZE    = -Oz -mllvm -disable-machine-licm -mllvm -disable-lsr -mllvm -disable-block-placement \
	-mllvm -two-entry-phi-node-folding-threshold=0 -mllvm -bonus-inst-threshold=0 -mno-red-zone
endif

# Here once, or each file would say it and more.
ifneq ($(findstring Ashlar is for,$(shell $(CC) -fsyntax-only -x c arch/x86_64/host.h 2>&1)),)
$(error Ashlar is for x86_64 Linux, in C; $(CC) is for something else)
endif

WARNINGS = -Wall -Wextra -Wundef -Wconversion -Wsign-conversion -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wcast-align -Werror $(NOT_THERE)
# -nostdlibinc: the compiler's own headers (stdint.h and such) and no others.
# Unwind tables: profilers, crash reporters and debuggers walk the stack from each instruction
# of the library; its tests and tools do without.
# DWARF 4: valgrind before 3.20 gives up on the DWARF 5 of clang.
BASE = -std=c17 -ffreestanding -nostdlib $(NO_HEADERS) -O2 $(DEBUG) -fno-stack-protector \
	$(UNWIND) -ffunction-sections -fdata-sections -MMD -MP $(WARNINGS)
DEBUG  = -gdwarf-4
UNWIND = -fasynchronous-unwind-tables

# The library goes into static programs, position independent or not; local-exec
# makes its thread-local words one instruction, and keeps it out of shared objects.
LIB_FLAGS   = $(BASE) $(PLAIN_LOOPS) -falign-functions=1 -fPIE -ftls-model=local-exec -fvisibility=hidden $(INNER)
# Programs see the staged header and the runtime.  INNER is for the library itself and
# for tests of its insides (tests/t_inner_*, tests/x_*, tests/s_inner_*).
PROG_FLAGS  = $(BASE) -fno-asynchronous-unwind-tables -fno-pie -I$(BUILD)/include -Itests/runtime
INNER       = -Iarch/x86_64 -Isys -Icore
ASM_FLAGS   = $(DEBUG) -MMD -MP $(NO_HEADERS) -Iarch/x86_64

# -u: the runtime refers to ash_thread_detach only weakly, which draws nothing out of
# an archive.
LINK = $(CC) -static -nostdlib -fuse-ld=lld -Wl,-T,linker.ld -Wl,--gc-sections \
	-Wl,-z,max-page-size=4096 -Wl,--build-id=none -Wl,--orphan-handling=error \
	-Wl,--no-eh-frame-hdr -Wl,--fatal-warnings
LINK_ASHLAR = $(LINK) -Wl,-u,ash_thread_detach

RUNTIME_ASM = $(addprefix arch/x86_64/,start.S thread.S syscall_runtime.S)
LIB_SOURCES = $(filter-out $(RUNTIME_ASM),$(wildcard arch/x86_64/*.[cS])) \
	$(filter-out core/quick.c core/whole.c,$(wildcard sys/*.c core/*.c))
RT_SOURCES  = $(RUNTIME_ASM) $(wildcard tests/runtime/*.c)

# One object folder per set of flags; assembly has the same everywhere.
objects      = $(patsubst %.c,$(BUILD)/$1/%.o,$(filter %.c,$2)) \
	$(patsubst %.S,$(BUILD)/asm/%.o,$(filter %.S,$2))
LIB_OBJECTS  = $(call objects,lib,$(LIB_SOURCES))
ONE_OBJECTS  = $(call objects,one,$(LIB_SOURCES))
RT_OBJECTS   = $(call objects,prog,$(RT_SOURCES))
# The traces are replayed by a test too.
TEST_OBJECTS = $(call objects,prog,$(wildcard tests/t_*.c) tests/main.c tools/demo/steps.c \
	tools/demo/replay.c)
SOLO_OBJECTS = $(call objects,prog,$(wildcard tests/s_*.c) tests/t_api.c tests/main.c)
# The library as malloc has it, all of it: no list that could miss a file; tests of what differs.
QUICK_OBJECTS = $(call objects,quick,$(LIB_SOURCES) core/quick.c core/whole.c)
QUICK_TESTS  = $(call objects,prog,$(wildcard tests/q_*.c) tests/main.c $(addprefix tests/t_,api.c \
	align.c zalloc.c zalloc_taken.c resize.c shadow.c misuse.c misuse_released.c inner_steps.c \
	inner_steps_acts.c inner_steps_calls.c trim_sleeping.c inner_counts.c inner_open.c hooks.c))
SERVER_OBJECTS = $(call objects,prog,$(wildcard tools/shared/*.c))
DEMO_OBJECTS = $(call objects,prog,$(filter-out %/ancestor.c,$(wildcard tools/demo/*.c)))

LIBRARY  = $(BUILD)/libashlar.a
SINGLE   = $(BUILD)/libashlar-single.a
QUICK_LIB = $(BUILD)/libashlar-quick.a
RUNTIME  = $(BUILD)/librt.a
HEADERS  = $(patsubst core/%,$(BUILD)/include/%,$(wildcard core/ashlar*.h))
TESTS    = $(BUILD)/tests/all $(BUILD)/tests/quick $(if $(wildcard tests/s_*.c),$(BUILD)/tests/single) \
	$(patsubst tests/x_%.c,$(BUILD)/tests/%,$(wildcard tests/x_*.c))
LONG     = $(BUILD)/long/steps $(patsubst tests/l_%.c,$(BUILD)/long/%,$(wildcard tests/l_*.c))
DEMO     = $(if $(DEMO_OBJECTS),$(BUILD)/demo $(BUILD)/ancestor $(BUILD)/demo-shared)

# Ashlar as malloc: one object, made of the single source; the operators of C++; in the archive
# malloc_info, which alone needs something of a C library.
ONE_SOURCE     = $(BUILD)/single/ashlar.c
MALLOC         = $(BUILD)/libashlar_malloc.a
MALLOC_SHARED  = $(BUILD)/libashlar_malloc.so
MALLOC_OBJECTS = $(addprefix $(BUILD)/malloc/,ashlar_malloc.o ashlar_new.o ashlar_xml.o)
SHARED_OBJECTS = $(BUILD)/shared/ashlar_malloc.o $(BUILD)/shared/ashlar_new.o

all: $(LIBRARY) $(SINGLE) $(HEADERS) $(MALLOC) $(MALLOC_SHARED)

single: $(ONE_SOURCE)

programs: all $(TESTS) $(DEMO)

PREFIX  = /usr/local
DESTDIR =
install: all
	BUILD=$(BUILD) PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) sh tools/install/install

setup:
	sh tools/setup

# The tools must be there before anything is compiled: hence the second make.
test: setup
	$(MAKE) --no-print-directory programs
	BUILD=$(BUILD) MAKE="$(MAKE)" PROGRAMS="$(TESTS)" sh tools/test

test-long: setup
	$(MAKE) --no-print-directory $(LONG)
	BUILD=$(BUILD) PROGRAMS="$(LONG)" SECTIONS=natively sh tools/test

demo: setup
	$(MAKE) --no-print-directory $(BUILD)/demo $(BUILD)/ancestor
	BUILD=$(BUILD) sh tools/demo/run $(BUILD)/demo

demo-shared: setup
	$(MAKE) --no-print-directory $(BUILD)/demo-shared
	BUILD=$(BUILD) sh tools/shared/run $(SECONDS)

# With the C libraries and programs that are here; PARTS="linked real"
PARTS =
test-programs: setup
	$(MAKE) --no-print-directory programs
	BUILD=$(BUILD) sh tools/programs/run $(PARTS)

setup-programs:
	sh tools/programs/setup

# What tsan and model need besides; without it they are skipped.
setup-checkers:
	CC="$(CC)" sh tools/setup checkers

# What make test does thinly, in full and with other seeds: make soak SEEDS="1 2 3"
SEEDS = 1 2
soak: setup
	$(MAKE) --no-print-directory programs
	for seed in $(SEEDS); do \
		STEPS_SOAK=1 RT_SEED=$$seed $(BUILD)/tests/all steps_ && \
		STEPS_SOAK=1 RT_SEED=$$seed $(BUILD)/tests/all death_ && \
		STEPS_SOAK=1 RT_SEED=$$seed $(BUILD)/tests/all shared_sums && \
		RT_SEED=$$seed $(BUILD)/tests/all shadow && \
		RT_SEED=$$seed $(BUILD)/tests/all threads_ || exit 1; \
	done

bench bench-footprint: setup
	$(MAKE) --no-print-directory all $(RUNTIME) $(BUILD)/tests/hello
	CC="$(CC)" BUILD=$(BUILD) MAKE="$(MAKE)" sh tools/bench/build
	$(if $(filter bench,$@),BUILD=$(BUILD) sh tools/bench/compare $(ROUNDS))
	CC="$(CC)" BUILD=$(BUILD) MAKE="$(MAKE)" sh tools/bench/footprint

# Puts what `make bench` and `make bench-shared` left into README.md, between their marks.
bench-accept:
	for mark in bench:compare footprint:footprint shared:shared; do \
		[ -f $(BUILD)/bench/$${mark#*:}.md ] || continue; \
		sed -i -e "/^<!-- $${mark%:*} -->/,/^<!-- .$${mark%:*} -->/{//!d}" \
			-e "/^<!-- $${mark%:*} -->/r $(BUILD)/bench/$${mark#*:}.md" README.md || exit 1; \
	done

# Against the peers that are installed; the hosted twin needs the host's headers.
bench-seeds: setup
	$(MAKE) --no-print-directory $(BUILD)/bench/seeds
	$(CC) -O2 -fno-builtin -DHOSTED -Itests/runtime -pthread tools/bench/seeds*.c tools/bench/host.c \
		-o $(BUILD)/bench/seeds-hosted || rm -f $(BUILD)/bench/seeds-hosted
	BUILD=$(BUILD) sh tools/bench/run $(ROUNDS)

bench-threads: setup
	$(MAKE) --no-print-directory $(BUILD)/bench/threads
	CC="$(CC)" BUILD=$(BUILD) sh tools/bench/threads $(ROUNDS)

bench-shared: setup
	$(MAKE) --no-print-directory $(BUILD)/bench/shared
	BUILD=$(BUILD) sh tools/bench/shared $(ROUNDS)

tsan:
	CC="$(CC)" BUILD=$(BUILD) sh tools/tsan/run $(SECONDS)

tsan-plant:
	CC="$(CC)" sh tools/tsan/plant

# FILES="bits.c map.c" SAMPLE=1/6 SHARD=1/4 JOBS=2 SLOW=1; see tools/mutants/run
FILES =
mutants: setup
	BUILD=$(BUILD) python3 tools/mutants/run $(FILES)

golden-accept: programs
	! command -v clang-19 >/dev/null || \
		$(MAKE) --no-print-directory CC=clang-19 BUILD=$(BUILD)/clang-19 programs
	sh tools/golden accept $(BUILD) $(BUILD)/clang-19

model:
	BUILD=$(BUILD) CC="$(CC)" sh tools/model

# For scripts that build programs of their own: eval "$(make -s flags)"
flags:
	echo 'COMPILE="$(CC) $(PROG_FLAGS)" LINK="$(LINK_ASHLAR)" LIBRARY_FLAGS="$(LIB_FLAGS)"'

format:
	clang-format -i $$(git ls-files '*.c' '*.h' | grep -v arch/x86_64/stub.h)

clean:
	rm -rf $(BUILD)

# ---- the library: many threads, and one (no locked instructions) ----

$(LIBRARY): $(LIB_OBJECTS)
$(SINGLE): $(ONE_OBJECTS)
$(QUICK_LIB): $(QUICK_OBJECTS)
$(RUNTIME): $(RT_OBJECTS)

# ---- Ashlar as malloc ----

.PHONY: single install test-programs setup-programs setup-checkers

$(ONE_SOURCE): tools/single Makefile $(BUILD)/sources $(filter-out %_runtime.S,$(wildcard \
		$(addsuffix /*.[chS],arch/x86_64 sys core core/facade)))
	mkdir -p $(@D)
	echo 'MAKE $@'
	sh tools/single $(@D) $(FAST) $(QUICK) core/facade/malloc

# Its warnings were given when the sources were compiled one by one.
MALLOC_FLAGS = $(filter-out -Werror -W%,$(BASE)) $(PLAIN_LOOPS) -falign-functions=1 -DASHLAR_MALLOC
$(BUILD)/malloc/%.o: KIND = -fPIE -ftls-model=local-exec
# No table of jumps: the linker makes those without unwind tables.
$(BUILD)/shared/%.o: KIND = -fPIC -fno-plt -ftls-model=initial-exec -DASHLAR_SHARED

$(BUILD)/malloc/ashlar_malloc.o: KIND += -DASHLAR_WITHOUT_XML
$(BUILD)/malloc/ashlar_malloc.o $(BUILD)/shared/ashlar_malloc.o: $(ONE_SOURCE) Makefile
	mkdir -p $(@D)
	echo 'CC   $@'
	$(CC) $(MALLOC_FLAGS) $(KIND) -c $< -o $@

# With the tables that an exception needs on its way through.
$(BUILD)/malloc/ashlar_new.o $(BUILD)/shared/ashlar_new.o: core/facade/new.c Makefile
	mkdir -p $(@D)
	echo 'CC   $@'
	$(CC) $(BASE) -Icore -fexceptions $(KIND) -c $< -o $@

$(BUILD)/malloc/ashlar_xml.o: core/facade/xml.c Makefile
	mkdir -p $(@D)
	echo 'CC   $@'
	$(CC) $(BASE) -Icore $(KIND) -DASHLAR_XML_ALONE -c $< -o $@

$(MALLOC): $(MALLOC_OBJECTS)
	echo 'AR   $@'
	rm -f $@
	$(AR) qcs $@ $^

# nodelete: threads hold the address of a destructor of ours.
$(MALLOC_SHARED): $(SHARED_OBJECTS) core/facade/exports core/facade/asked tools/early \
		arch/x86_64/cpu.h
	echo 'LINK $@'
	$(CC) -shared -nostdlib -fuse-ld=lld -Wl,-soname,libashlar_malloc.so.0 \
		-Wl,--version-script=core/facade/exports -Wl,--dynamic-list=core/facade/asked \
		-Wl,-z,nodelete -Wl,-z,now -Wl,--no-rosegment -Wl,--gc-sections -Wl,--build-id=none \
		-Wl,--fatal-warnings $(SHARED_OBJECTS) -o $@
	sh tools/early $@

# Changes when a source comes or goes: what is made of all of them is then made anew.
$(BUILD)/sources: FORCE
	mkdir -p $(@D)
	echo $(LIB_SOURCES) $(RT_SOURCES) $(TEST_OBJECTS) $(SOLO_OBJECTS) $(DEMO_OBJECTS) $(SERVER_OBJECTS) >$@.new
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# Anew each time, or members whose source is gone would stay; q and not r, which would
# replace one member by another of the same name from another folder.
$(LIBRARY) $(SINGLE) $(QUICK_LIB) $(RUNTIME): $(BUILD)/sources
	mkdir -p $(@D)
	echo 'AR   $@'
	rm -f $@
	$(AR) qcs $@ $(filter %.o,$^)

$(BUILD)/include/%.h: core/%.h
	mkdir -p $(@D)
	echo 'COPY $@'
	cp $< $@

$(BUILD)/lib/%.o: %.c Makefile
	mkdir -p $(@D)
	echo 'CC   $<'
	$(CC) $(LIB_FLAGS) -c $< -o $@

$(BUILD)/one/%.o: %.c Makefile
	mkdir -p $(@D)
	echo 'CC   $< (single thread)'
	$(CC) $(LIB_FLAGS) -DASH_SINGLE_THREAD -c $< -o $@

$(BUILD)/quick/%.o: %.c Makefile
	mkdir -p $(@D)
	echo 'CC   $< (as malloc has it)'
	$(CC) $(LIB_FLAGS) -DASHLAR_MALLOC -c $< -o $@

$(BUILD)/asm/%.o: %.S Makefile
	mkdir -p $(@D)
	echo 'AS   $<'
	$(CC) $(ASM_FLAGS) -c $< -o $@

# What is called once in 64 allocations or less is built for size: the four main calls
# must stay below 24 KiB (tests/check_size.sh).  The passes that are left out keep
# addresses and sums in registers over a loop, which there means saving registers, and
# align or double code to save a jump.
FAST = core/alloc core/release core/field core/instance_alloc core/instance_release
# What has fast paths only where there are the names of malloc (core/quick.h).
QUICK = core/zalloc core/resize core/block core/quick core/whole
SLOW = $(filter-out $(FAST),$(basename $(filter %.c,$(LIB_SOURCES))))
$(SLOW:%=$(BUILD)/lib/%.o) $(SLOW:%=$(BUILD)/one/%.o): LIB_FLAGS += $(FOR_SIZE)

# ---- programs ----

# The runtime's own folder sees the raw system calls; so do tests of the insides.
$(BUILD)/prog/tests/runtime/%.o: PROG_FLAGS += -Iarch/x86_64
$(BUILD)/prog/tests/x_%.o $(BUILD)/prog/tests/l_%.o $(BUILD)/prog/tests/t_inner_%.o $(BUILD)/prog/tests/q_inner_%.o: PROG_FLAGS += $(INNER)
$(BUILD)/prog/tests/s_inner_%.o: PROG_FLAGS += $(INNER) -DASH_SINGLE_THREAD
$(BUILD)/prog/tests/t_traces.o: PROG_FLAGS += -Itools/demo

$(BUILD)/prog/%.o: %.c Makefile | $(HEADERS)
	mkdir -p $(@D)
	echo 'CC   $<'
	$(CC) $(PROG_FLAGS) -c $< -o $@

$(BUILD)/tests/all: $(TEST_OBJECTS) $(RUNTIME) $(LIBRARY) $(BUILD)/sources linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@

$(BUILD)/tests/quick: $(QUICK_TESTS) $(RUNTIME) $(QUICK_LIB) $(BUILD)/sources linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@

$(BUILD)/tests/single: $(SOLO_OBJECTS) $(RUNTIME) $(SINGLE) $(BUILD)/sources linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@

# Ashlar's ancestor's example, a program of its own beside the demonstration.
$(BUILD)/demo: $(DEMO_OBJECTS) $(BUILD)/sources
$(BUILD)/ancestor: $(BUILD)/prog/tools/demo/ancestor.o
$(BUILD)/bench/seeds: $(call objects,prog,$(wildcard tools/bench/seeds_*.c))
$(BUILD)/bench/%: $(BUILD)/prog/tools/bench/%.o $(RUNTIME) $(LIBRARY) linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@

$(BUILD)/demo-shared: $(SERVER_OBJECTS) $(BUILD)/sources
$(BUILD)/demo $(BUILD)/ancestor $(BUILD)/demo-shared: $(RUNTIME) $(LIBRARY) linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@

# A test that is a program of its own; it may ask for flags by a line in its source:
# /* LDFLAGS: -Wl,--wrap=arch_mmap */
$(BUILD)/tests/%: $(BUILD)/prog/tests/x_%.o $(RUNTIME) $(LIBRARY) linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@ \
		$$(sed -n 's,^/\* LDFLAGS: \(.*\) \*/$$,\1,p' tests/x_$*.c)

# The single steps and the deaths, at every boundary.
$(BUILD)/long/steps: $(BUILD)/tests/all Makefile
	mkdir -p $(@D)
	echo '#!/bin/sh' >$@
	echo 'STEPS_FULL=1 exec $(BUILD)/tests/all steps_ death_' >>$@
	chmod +x $@

# The same, but it takes minutes.
$(BUILD)/long/%: $(BUILD)/prog/tests/l_%.o $(RUNTIME) $(LIBRARY) linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@ \
		$$(sed -n 's,^/\* LDFLAGS: \(.*\) \*/$$,\1,p' tests/l_$*.c)

.PHONY: all programs setup test test-long model demo demo-shared soak bench bench-footprint bench-accept bench-seeds bench-threads bench-shared tsan tsan-plant mutants golden-accept flags format clean FORCE
.SECONDARY:
$(if $(V),,.SILENT:)
.DELETE_ON_ERROR:

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
