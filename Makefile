# SPDX-License-Identifier: MIT
#
#	make            the library: build/libashlar.a, build/include/ashlar.h; build/ashlar-look
#	make test       everything that is checked, natively and under QEMU; of other CPUs a part
#	make test-arch  every test program of every CPU, under QEMU
#	make steps      ARCH=aarch64, ARCH=riscv64: single steps under QEMU; STEPS=all for all paths
#	make test-long  what takes minutes (tests/long, and in full what make test thins), natively
#	make programs   the library, the tests and the demonstrations, without running them
#	make demo       the demonstration, natively and under QEMU
#	make demo-shared  a heap shared by processes that are killed; SECONDS=60 for longer
#	make bench      Ashlar against every malloc that is installed: SHORT=1, ROUNDS=n, PEERS=name:library
#	make bench-accept  takes the last figures into BENCHMARKS.md and README.md's summary
#	make bench-footprint  text, memory and mappings of the smallest programs
#	make bench-seeds  the experiments against the mallocs that are installed
#	make bench-threads  threads, the same way
#	make bench-shared  heaps shared by processes, against private ones and Boost's
#	make tsan       the heap under ThreadSanitizer; tsan-plant: with faults that it must find
#	make mutants    each thing of the sources changed in turn: FILES=... SAMPLE=k/n SLOW=n JOBS=n
#	make soak       what make test does thinly, in full and with other seeds: SEEDS="1 2 3"
#	make golden-accept  takes the instructions of the fast paths as they are now for right
#	make model      the protocol of the bitmaps, by spin; memory orders, by relacy
#	make setup      looks for the tools that all of this needs
#	make setup-checkers  installs what tsan, model and the check of gdb's script need, where it may
#	make setup-programs  and what test-programs needs
#	make amalgamation  build/amalgamation/ashlar.c and public headers: the library as one source
#	make test-programs  real programs with Ashlar as their malloc: PARTS="linked real"
#	make flags      prints how a test program is compiled and linked, for scripts
#	make format     clang-format over all sources
#	make install    PREFIX=/usr/local DESTDIR=
#	make clean      removes build/
#
# Another compiler or place: make CC=clang-19 BUILD=/tmp/there; whole commands: make V=1
# Another CPU, by clang and lld alone: make ARCH=aarch64 or riscv64, into build/CPU
# A source file is found by its place and name.  What is kept by hand: the sources built for
# speed (FAST), and core/amalgamation.c.

MAKEFLAGS += --no-builtin-rules

CC    = clang

# The CPU: what the compiler is for, unless ARCH is given: make ARCH=aarch64 by clang and lld alone.
HOST  := $(shell uname -m)
OWN   := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
ARCH  = $(OWN)
ifeq ($(wildcard arch/$(ARCH)/host.h),)
$(error Ashlar is for x86_64, aarch64 and riscv64 Linux, in C; this is for $(ARCH))
endif
ifneq ($(ARCH),$(OWN))
TARGET = --target=$(ARCH)-linux-gnu
endif
BUILD = build$(if $(filter-out $(HOST),$(ARCH)),/$(ARCH))
AR    = $(if $(TARGET),llvm-ar,ar)
# What runs its programs here.
EMULATOR = $(if $(filter-out $(HOST),$(ARCH)),qemu-$(ARCH) )

# What gcc calls otherwise.  It builds the library; the tests, the figures and the limits of
# size are for clang.
ifeq ($(shell $(CC) --version 2>/dev/null | grep -c clang),0)
NO_HEADERS := -nostdinc -isystem $(shell $(CC) -print-file-name=include)
PLAIN_LOOPS = -fno-tree-vectorize -fno-unroll-loops
FOR_SIZE    = -Os $(NO_RED_ZONE)
else
# A program of the tests' runtime, which is for clang.
LOOK        = $(BUILD)/ashlar-look
NO_HEADERS  = -nostdlibinc
PLAIN_LOOPS = -fno-vectorize -fno-slp-vectorize -fno-unroll-loops
IN_BOUNDS   = -fsanitize=bounds -fsanitize-trap=bounds
FOR_SIZE    = -Oz $(LESS_CODE) $(NO_RED_ZONE)
endif
NO_RED_ZONE = $(if $(filter x86_64,$(ARCH)),-mno-red-zone)
# aarch64: atomic operations without calls of the compiler's library.  riscv64: no relaxing,
# which lld 14 cannot, and no section of small objects, as linker.ld has none.
FOR_CPU = $(FOR_$(ARCH))
FOR_aarch64 = -mno-outline-atomics
FOR_riscv64 = -march=rv64gc -mabi=lp64d -mno-relax
NO_SMALL = $(if $(filter riscv64,$(ARCH)),-msmall-data-limit=0)
# Kernels with pages of 64 KiB load no program whose segments share one.
PAGE_MOST = $(if $(filter x86_64,$(ARCH)),4096,65536)
# Passes of clang, by private names, that keep addresses and sums in registers over a loop,
# which in small functions means saving registers, and that align or double code to save a
# jump.  Tried with clang 14 and 19: without them the four main calls have 2.5 and 3 % more bytes.
LESS_CODE = $(addprefix -mllvm ,-disable-machine-licm -disable-lsr -disable-block-placement \
	-two-entry-phi-node-folding-threshold=0 -bonus-inst-threshold=0)

# Here once, or each file would say it and more.
ifneq ($(findstring Ashlar is for,$(shell $(CC) $(TARGET) -fsyntax-only -x c arch/$(ARCH)/host.h 2>&1)),)
$(error Ashlar is for x86_64, aarch64 and riscv64 Linux, in C; $(CC) is for something else)
endif

WARNINGS = -Wall -Wextra -Wundef -Wconversion -Wsign-conversion -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wcast-align -Werror
# -nostdlibinc: the compiler's own headers (stdint.h and such) and no others.
# Unwind tables: profilers, crash reporters and debuggers walk the stack from each instruction
# of the library; its tests and tools do without.
# DWARF 4: valgrind before 3.20 gives up on the DWARF 5 of clang.
BASE = $(TARGET) $(FOR_CPU) -std=c17 -ffreestanding -nostdlib $(NO_HEADERS) -O2 $(DEBUG) -fno-stack-protector \
	$(UNWIND) -ffunction-sections -fdata-sections -MMD -MP $(WARNINGS)
DEBUG  = -gdwarf-4
UNWIND = -fasynchronous-unwind-tables

# The library goes into static programs, position independent or not; local-exec
# makes its thread-local words one instruction, and keeps it out of shared objects.
LIB_FLAGS   = $(BASE) $(NO_SMALL) $(PLAIN_LOOPS) -falign-functions=1 -fPIE -ftls-model=local-exec -fvisibility=hidden $(INNER)
# Programs see the staged header and the runtime, tests what is in tests/support, too.
# INNER is for the library itself and for the tests in INNER_TESTS.
PROG_FLAGS  = $(BASE) $(NO_SMALL) -fno-asynchronous-unwind-tables -fno-pie -I$(BUILD)/include \
	-Itests/runtime -Itests/runtime/$(ARCH) -Itests -Itests/support/$(ARCH)
INNER       = -Iarch/$(ARCH) -Isys -Icore -Icore/include
ASM_FLAGS   = $(TARGET) $(FOR_CPU) $(DEBUG) -MMD -MP $(NO_HEADERS) -Iarch/$(ARCH)

# -u: the runtime refers to ash_thread_detach only weakly, which draws nothing out of
# an archive.
LINK = $(CC) $(TARGET) -static -nostdlib -fuse-ld=lld -Wl,-T,linker.ld -Wl,--gc-sections \
	-Wl,-z,max-page-size=$(PAGE_MOST) -Wl,--build-id=none -Wl,--orphan-handling=error \
	-Wl,--no-eh-frame-hdr -Wl,--fatal-warnings
LINK_ASHLAR = $(LINK) -Wl,-u,ash_thread_detach

# ---- lists ----

# What is called once in 64 allocations or less is built for size: the four main calls must
# stay below 24 KiB (tests/check/size.sh).  These are built for speed.
FAST = core/front/alloc core/front/release core/arena/arena core/arena/arena_alloc \
	core/heaps/instance_alloc core/heaps/instance_release

RUNTIME_ASM = $(addprefix arch/$(ARCH)/,start.S thread.S syscall_runtime.S)
LIB_SOURCES = $(filter-out $(RUNTIME_ASM),$(wildcard arch/$(ARCH)/*.[cS])) \
	$(filter-out core/malloc/%,$(wildcard sys/*.c core/*/*.c))
SLOW = $(filter-out $(FAST),$(basename $(filter %.c,$(LIB_SOURCES))))
RT_SOURCES  = $(RUNTIME_ASM) $(wildcard tests/runtime/*.c)

# One object folder per set of flags, named by its product; assembly has the same everywhere.
#
#	lib     libashlar.a
#	st      libashlar-st.a: one thread, no locked instructions
#	small   libashlar-small.a: fewest bytes, no thread-local storage
#	malloc  libashlar_malloc.a: of the amalgamation
#	so      libashlar_malloc.so: of the amalgamation
#	prog    tests, tools and their runtime
#	asm     assembly, for all but the amalgamation
objects      = $(patsubst %.c,$(BUILD)/$1/%.o,$(filter %.c,$2)) \
	$(patsubst %.S,$(BUILD)/asm/%.o,$(filter %.S,$2))
LIB_OBJECTS  = $(call objects,lib,$(LIB_SOURCES))
ST_OBJECTS  = $(call objects,st,$(LIB_SOURCES))
SMALL_OBJECTS = $(call objects,small,$(filter-out core/arena/% core/shm/% core/heaps/%,$(LIB_SOURCES)))
RT_OBJECTS   = $(call objects,prog,$(RT_SOURCES))
# tests/README.md says what is in the folders of tests; those that see core's headers:
INNER_TESTS = inner program malloc small long
test_sources = $(foreach folder,$1,$(wildcard tests/$(folder)/*.c)) tests/support/main.c
# The traces are replayed by a test too.
TEST_OBJECTS = $(call objects,prog,$(call test_sources,api inner) tools/demo/steps.c tools/demo/replay.c)
ST_TESTS = $(call objects,prog,$(call test_sources,st) tests/api/api.c)
# The public calls on the default heap, against the other libraries as they are shipped.
DEFAULT_TESTS = $(addprefix tests/api/,$(addsuffix .c,api align fork large misuse misuse_threads resize \
	shadow signal threads)) tests/support/main.c tools/demo/steps.c
MALLOC_TESTS = $(call objects,prog,$(DEFAULT_TESTS) tests/api/misuse_released.c tests/api/trim.c \
	tests/api/zalloc.c tests/api/zalloc_taken.c $(wildcard tests/malloc/*.c))
SMALL_TESTS = $(call objects,prog,$(filter-out tests/api/misuse.c,$(DEFAULT_TESTS)) $(wildcard tests/small/*.c))
SERVER_OBJECTS = $(call objects,prog,$(wildcard tools/shared/*.c))
LOOK_OBJECTS = $(call objects,prog,$(wildcard tools/look/*.c))
DEMO_OBJECTS = $(call objects,prog,$(filter-out %/ancestor.c,$(wildcard tools/demo/*.c)))

LIBRARY  = $(BUILD)/libashlar.a
ST_LIBRARY = $(BUILD)/libashlar-st.a
SMALL_LIBRARY = $(BUILD)/libashlar-small.a
RUNTIME  = $(BUILD)/librt.a
HEADERS  = $(patsubst core/include/%,$(BUILD)/include/%,$(filter-out %_malloc.h,$(wildcard core/include/*.h)))
TESTS    = $(addprefix $(BUILD)/tests/,all malloc small st $(patsubst tests/program/%.c,%,$(wildcard tests/program/*.c)))
LONG     = $(addprefix $(BUILD)/long/,steps $(patsubst tests/long/%.c,%,$(wildcard tests/long/*.c)))
DEMO     = $(if $(DEMO_OBJECTS),$(BUILD)/demo $(BUILD)/ancestor $(BUILD)/demo-shared)

# Ashlar as malloc: one object, made of the amalgamation; the operators of C++; in the archive
# malloc_info, which alone needs something of a C library.
AMALGAMATION   = $(BUILD)/amalgamation/ashlar.c
MALLOC         = $(BUILD)/libashlar_malloc.a
MALLOC_SO      = $(BUILD)/libashlar_malloc.so
MALLOC_OBJECTS = $(addprefix $(BUILD)/malloc/,ashlar_malloc.o ashlar_new.o ashlar_xml.o)
SO_OBJECTS     = $(BUILD)/so/ashlar_malloc.o $(BUILD)/so/ashlar_new.o

all: $(LIBRARY) $(ST_LIBRARY) $(SMALL_LIBRARY) $(HEADERS) $(MALLOC) $(MALLOC_SO) $(LOOK)

amalgamation: $(AMALGAMATION)

programs: all $(TESTS) $(DEMO)

PREFIX  = /usr/local
DESTDIR =
install: all
	BUILD=$(BUILD) PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) sh tools/install/install

setup:
	sh tools/setup

CPUS = $(filter-out $(ARCH),x86_64 aarch64 riscv64)
RUN_TESTS = BUILD=$(BUILD) MAKE="$(MAKE)" PROGRAMS="$(TESTS)" ARCH=$(ARCH) CPUS="$(CPUS)"

# The tools must be there before anything is compiled: hence the second make.
test: setup
	$(MAKE) --no-print-directory programs
	$(if $(EMULATOR),,$(foreach cpu,$(CPUS),$(MAKE) --no-print-directory ARCH=$(cpu) BUILD=$(BUILD)/$(cpu) \
		$(addprefix $(BUILD)/$(cpu)/,$(addprefix tests/,all st arch tls_large) steps.so) &&) :)
	$(RUN_TESTS) $(if $(EMULATOR),SECTIONS=emulated) sh tools/test

# Every test program of every CPU, under QEMU.
test-arch: setup
	$(MAKE) --no-print-directory programs
	$(foreach cpu,$(CPUS),$(MAKE) --no-print-directory ARCH=$(cpu) BUILD=$(BUILD)/$(cpu) programs \
		$(BUILD)/$(cpu)/steps.so &&) :
	$(RUN_TESTS) SECTIONS=all_cpus sh tools/test

# Single steps where programs have no trap flag: make steps ARCH=aarch64 STEPS=all
STEPS =
steps: setup
	$(MAKE) --no-print-directory $(BUILD)/tests/all $(BUILD)/steps.so
	BUILD=$(BUILD) sh tools/steps $(ARCH) $(STEPS)

test-long: setup
	$(MAKE) --no-print-directory $(LONG)
	$(RUN_TESTS) PROGRAMS="$(LONG)" SECTIONS=natively sh tools/test

demo: setup
	$(MAKE) --no-print-directory $(BUILD)/demo $(BUILD)/ancestor
	BUILD=$(BUILD) ARCH=$(ARCH) EMULATOR="$(EMULATOR)" sh tools/demo/run $(BUILD)/demo

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

# What tsan, model and tests/check/gdb.sh need besides; without it they are skipped.
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

# Puts what the benchmarks left into BENCHMARKS.md, between their marks, and its summary into README.md.
bench-accept:
	BUILD=$(BUILD) sh tools/bench/accept

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
	sh tools/golden accept $(BUILD) $(BUILD)/clang-19 $(addprefix $(BUILD)/,$(CPUS))

model:
	BUILD=$(BUILD) CC="$(CC)" sh tools/model/run

# For scripts that build programs of their own: eval "$(make -s flags)"
flags:
	echo 'COMPILE="$(CC) $(PROG_FLAGS)" LINK="$(LINK_ASHLAR)" LIBRARY_FLAGS="$(LIB_FLAGS)"'

format:
	clang-format -i $$(git ls-files '*.c' '*.h' | grep -v /stub.h)

clean:
	rm -rf $(BUILD)

# ---- the library: many threads, and one (no locked instructions) ----

$(LIBRARY): $(LIB_OBJECTS)
$(ST_LIBRARY): $(ST_OBJECTS)
$(SMALL_LIBRARY): $(SMALL_OBJECTS)
$(RUNTIME): $(RT_OBJECTS)

# ---- Ashlar as malloc ----

.PHONY: amalgamation install test-programs setup-programs setup-checkers

$(AMALGAMATION): tools/amalgamate core/amalgamation.c $(BUILD)/sources $(filter-out %_runtime.S,$(wildcard \
		$(addsuffix /*.[chS],arch arch/* sys core/*)))
	mkdir -p $(@D)
	echo 'MAKE $@'
	sh tools/amalgamate $(@D)

# Its warnings were given when the sources were compiled one by one.
MALLOC_FLAGS = $(filter-out -Werror -W%,$(BASE)) $(PLAIN_LOOPS) -falign-functions=1 -DASHLAR_MALLOC
$(BUILD)/malloc/%.o: KIND = -fPIE -ftls-model=local-exec $(NO_SMALL)
# No table of jumps: the linker makes those without unwind tables.
$(BUILD)/so/%.o: KIND = -fPIC -fno-plt -ftls-model=initial-exec -DASHLAR_SO

$(BUILD)/malloc/ashlar_malloc.o: KIND += -DASHLAR_WITHOUT_XML
$(BUILD)/malloc/ashlar_malloc.o $(BUILD)/so/ashlar_malloc.o: $(AMALGAMATION) Makefile
	mkdir -p $(@D)
	echo 'CC   $@'
	$(CC) $(MALLOC_FLAGS) $(KIND) -c $< -o $@

# With the tables that an exception needs on its way through.
$(BUILD)/malloc/ashlar_new.o $(BUILD)/so/ashlar_new.o: core/malloc/new.c Makefile
	mkdir -p $(@D)
	echo 'CC   $@'
	$(CC) $(BASE) -Isys -Icore/include -fexceptions $(KIND) -c $< -o $@

$(BUILD)/malloc/ashlar_xml.o: core/malloc/xml.c Makefile
	mkdir -p $(@D)
	echo 'CC   $@'
	$(CC) $(BASE) -Isys -Icore/include $(KIND) -DASHLAR_XML_ALONE -c $< -o $@

$(MALLOC): $(MALLOC_OBJECTS)
	echo 'AR   $@'
	rm -f $@
	$(AR) qcs $@ $^

# nodelete: threads hold the address of a destructor of ours.
$(MALLOC_SO): $(SO_OBJECTS) core/malloc/version.map core/malloc/dynamic.list tools/prereloc \
		arch/$(ARCH)/cpu.h
	echo 'LINK $@'
	$(CC) $(TARGET) -shared -nostdlib -fuse-ld=lld -Wl,-soname,libashlar_malloc.so.0 \
		-Wl,--version-script=core/malloc/version.map -Wl,--dynamic-list=core/malloc/dynamic.list \
		-Wl,-z,nodelete -Wl,-z,now -Wl,--no-rosegment -Wl,--gc-sections -Wl,--build-id=none \
		-Wl,--fatal-warnings $(SO_OBJECTS) -o $@
	$(if $(filter x86_64,$(ARCH)),sh tools/prereloc $@)

# For QEMU on this machine, whatever the CPU of the programs is.
$(BUILD)/steps.so: tests/support/steps_plugin.c tests/support/stepper_calls.h
	echo 'LINK $@'
	mkdir -p $(@D)
	$(CC) -std=c17 -ffreestanding -nostdlib $(NO_HEADERS) -O2 $(WARNINGS) \
		-fvisibility=hidden -fPIC -shared -fuse-ld=lld -Itests $< -o $@

# Changes when a source comes or goes: what is made of all of them is then made anew.
$(BUILD)/sources: FORCE
	mkdir -p $(@D)
	echo $(LIB_SOURCES) $(RT_SOURCES) $(TEST_OBJECTS) $(ST_TESTS) $(MALLOC_TESTS) $(SMALL_TESTS) $(DEMO_OBJECTS) $(SERVER_OBJECTS) $(LOOK_OBJECTS) >$@.new
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# Anew each time, or members whose source is gone would stay; q and not r, which would
# replace one member by another of the same name from another folder.
$(LIBRARY) $(ST_LIBRARY) $(SMALL_LIBRARY) $(RUNTIME): $(BUILD)/sources
	mkdir -p $(@D)
	echo 'AR   $@'
	rm -f $@
	$(AR) qcs $@ $(filter %.o,$^)

$(BUILD)/include/%.h: core/include/%.h
	mkdir -p $(@D)
	echo 'COPY $@'
	cp $< $@

define library_object
$(BUILD)/$1/%.o: %.c Makefile
	mkdir -p $$(@D)
	echo 'CC   $$< ($1)'
	$$(CC) $$(LIB_FLAGS) $$(KIND) -c $$< -o $$@
endef
$(foreach folder,lib st small,$(eval $(call library_object,$(folder))))
$(BUILD)/st/%.o: KIND = -DASHLAR_SINGLE_THREAD
$(BUILD)/small/%.o: KIND = -DASHLAR_SMALL $(FOR_SIZE)
$(SLOW:%=$(BUILD)/lib/%.o) $(SLOW:%=$(BUILD)/st/%.o): LIB_FLAGS += $(FOR_SIZE)

$(BUILD)/asm/%.o: %.S Makefile
	mkdir -p $(@D)
	echo 'AS   $<'
	$(CC) $(ASM_FLAGS) -c $< -o $@

# ---- programs ----

# The runtime's own folder sees the raw system calls; so do tests of the insides.
$(BUILD)/prog/tests/runtime/%.o: PROG_FLAGS += -Iarch/$(ARCH)
$(INNER_TESTS:%=$(BUILD)/prog/tests/%/%.o): PROG_FLAGS += $(INNER)
$(BUILD)/prog/tests/api/traces.o: PROG_FLAGS += -Itools/demo

# It reads what others may have forged: an index out of bounds is a trap, and a test that fails.
$(BUILD)/prog/tools/look/%.o: PROG_FLAGS += $(IN_BOUNDS)

$(BUILD)/prog/%.o: %.c Makefile | $(HEADERS)
	mkdir -p $(@D)
	echo 'CC   $<'
	$(CC) $(PROG_FLAGS) -c $< -o $@

# Where pages have several sizes: those of a faked kernel, RT_PAGE=65536 (tests/runtime/page.c).
FAKED = $(if $(filter-out x86_64,$(ARCH)),mmap munmap madvise mremap mincore mprotect)
$(BUILD)/tests/all: LINK_ASHLAR += $(FAKED:%=-Wl,--wrap=arch_%)

$(BUILD)/tests/all: $(TEST_OBJECTS) $(RUNTIME) $(LIBRARY) $(BUILD)/sources linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@

# The tests' own use of what the archive keeps to itself.
MALLOC_ASIDE = $(call objects,lib,arch/$(ARCH)/memory.c arch/$(ARCH)/syscall.S core/base/class.c)
$(BUILD)/tests/malloc: $(MALLOC_TESTS) $(MALLOC_ASIDE) $(RUNTIME) $(MALLOC) $(BUILD)/sources linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@

$(BUILD)/tests/small: $(SMALL_TESTS) $(RUNTIME) $(SMALL_LIBRARY) $(BUILD)/sources linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@

$(BUILD)/tests/st: $(ST_TESTS) $(RUNTIME) $(ST_LIBRARY) $(BUILD)/sources linker.ld
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
$(BUILD)/ashlar-look: $(LOOK_OBJECTS) $(BUILD)/sources
$(BUILD)/ashlar-look $(BUILD)/demo $(BUILD)/ancestor $(BUILD)/demo-shared: $(RUNTIME) $(LIBRARY) linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@

# A test that is a program of its own; it may ask for flags by a line in its source:
# /* LDFLAGS: -Wl,--wrap=arch_mmap */
$(BUILD)/tests/%: $(BUILD)/prog/tests/program/%.o $(RUNTIME) $(LIBRARY) linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@ \
		$$(sed -n 's,^/\* LDFLAGS: \(.*\) \*/$$,\1,p' tests/program/$*.c)

# What asks rt_in_full(): the single steps and the deaths at every boundary, more kills and calls.
FULL = steps_ death_ signal_at_ midst_of_settling pass_blocks ring_of kills_at fork_in_the_middle
$(BUILD)/long/steps: $(BUILD)/tests/all Makefile
	mkdir -p $(@D)
	echo '#!/bin/sh' >$@
	echo 'export STEPS_FULL=1; exec $(BUILD)/tests/all $(FULL)' >>$@
	chmod +x $@

# The same, but it takes minutes.
$(BUILD)/long/%: $(BUILD)/prog/tests/long/%.o $(RUNTIME) $(LIBRARY) linker.ld
	mkdir -p $(@D)
	echo 'LINK $@'
	$(LINK_ASHLAR) $(filter %.o %.a,$^) -o $@ \
		$$(sed -n 's,^/\* LDFLAGS: \(.*\) \*/$$,\1,p' tests/long/$*.c)

.PHONY: all programs setup test test-long test-arch steps model demo demo-shared soak bench bench-footprint bench-accept bench-seeds bench-threads bench-shared tsan tsan-plant mutants golden-accept flags format clean FORCE
.SECONDARY:
$(if $(V),,.SILENT:)
.DELETE_ON_ERROR:

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
