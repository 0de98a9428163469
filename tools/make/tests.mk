# SPDX-License-Identifier: MIT
# The programs of tests, demonstrations and benchmarks, and the scripts that run them: a row each.

# ---- programs ----

# Programs see the staged headers and the runtime; tests see tests/support, too.
PROG_FLAGS = $(BASE) $(call cpu,static) -fno-asynchronous-unwind-tables -fno-pie -I$(BUILD)/include \
	-Itests/runtime -Itests/runtime/$(ARCH) -Itests -Itests/support/$(ARCH)
# Sources in these folders see core's headers; tests/README.md says what is in each.
INNER_TESTS = inner program malloc hardened small field system long store
$(INNER_TESTS:%=$(BUILD)/prog/tests/%/%.o): PROG_FLAGS += $(INNER)
# The runtime's own folder sees the raw system calls.
$(BUILD)/prog/tests/runtime/%.o $(BUILD)/prog/tests/kernel/%.o: PROG_FLAGS += -Iarch/$(ARCH)
# The smallest programs print, and are weighed: tests/check/link.sh.
$(BUILD)/prog/tests/runtime/format.o: PROG_FLAGS += $(FOR_SIZE)
$(BUILD)/prog/tests/api/traces.o: PROG_FLAGS += -Itools/demo
# ashlar-look reads memory that others may have forged: an index out of bounds is a trap, and a test that fails.
$(BUILD)/prog/tools/look/%.o: PROG_FLAGS += $(IN_BOUNDS)

# $(call program,PROGRAM,SOURCES,OBJECTS AND ARCHIVES): of these and of the sources in the folder PROGRAM, if there is one;
# PROGRAM, objects and archives are in the build folder.
program = $(eval $(call program_rules,$(strip $1),$(call objects,prog,$2 $(wildcard $(strip $1)/*.c)),$(3:%=$(BUILD)/%)))
define program_rules
OBJECTS += $2
LINKED += $(BUILD)/$1
$(BUILD)/$1: $2 $3
endef
# $(call each,FOLDER,SOURCES,ARCHIVE): a program of each source, and their names.
each = $(foreach source,$2,$(call program,$1/$(basename $(notdir $(source))),$(source),$3)) \
	$(patsubst %.c,$(BUILD)/$1/%,$(notdir $2))

# $(call api,NAMES): files of tests/api.  API: the public calls on the default heap, against other products as shipped.
api = $(addprefix tests/api/,$(addsuffix .c,$1))
API = $(call api,api align aligned expand expand_remote fork large misuse misuse_threads resize shadow signal threads) \
	tools/demo/steps.c
API_ALL = $(wildcard tests/api/*.c tests/api/*/*.c tests/store/api/*.c)
# The traces are replayed by a test, too.
REPLAY = tools/demo/steps.c tools/demo/replay.c
INNER_ALL = $(wildcard tests/inner/*.c tests/inner/*/*.c) \
	$(filter-out $(addprefix tests/store/,api/% program/% long/%),$(wildcard tests/store/*/*.c))
# The tests' own use of what an archive keeps to itself.
ASIDE = lib/arch/$(ARCH)/memory.o lib/core/base/class.o asm/arch/$(ARCH)/syscall.o

$(call program, tests/all, $(API_ALL) $(INNER_ALL) $(REPLAY), parts.a)
# With the archive, whose code is apart from the runtime's: for tests/check/filter.sh.
$(call program, tests/filtered, $(API_ALL) $(REPLAY), libashlar.a)
# Heaps are not guarded, but their slabs are in a hardened library.
$(call program, tests/hardened-heaps, $(call api,heap_aligned heap_use), hardened/ashlar.o)
$(call program, tests/malloc, $(API) $(call api,misuse_aligned misuse_released trim zalloc zalloc_taken) \
	tests/inner/base/misuse_end.c tests/inner/thread/vfork_stepped.c, $(ASIDE) libashlar_malloc.a)
# Tests that hold for it, too; tools/test names the others of these files in hardened_differs.
$(call program, tests/hardened, $(call api,api align aligned fork large larger resize shadow signal threads zalloc) \
	tests/malloc/names.c tools/demo/steps.c, $(ASIDE) libashlar_malloc-hardened.a)
$(call program, tests/small, $(filter-out %/misuse.c,$(API)), parts-small.a)
$(call program, tests/field, $(call api,heap_in heap_in_shadow heap_use) tests/inner/arena/arena_each_step.c, \
	lib/sys/pages.o lib/sys/pages_map.o parts-field.a)
# Without the tests that ask about the kernel's memory, or for more than there is.
$(call program, tests/system, $(filter-out %/align.c %/fork.c %/large.c,$(API)), libashlar-core.a)
$(call program, tests/sample, $(call api,api), libashlar-sample.a)
$(call program, ashlar-look, $(wildcard tools/look/*.c), libashlar.a)
$(call program, demo, $(filter-out %/ancestor.c,$(wildcard tools/demo/*.c)), libashlar.a)
$(call program, ancestor, tools/demo/ancestor.c, libashlar.a)
$(call program, demo-shared, $(wildcard tools/shared/*.c), libashlar.a)
OWN_PROGRAMS  := $(call each,tests,$(wildcard tests/program/*.c tests/store/program/*.c),parts.a)
LONG_PROGRAMS := $(call each,long,$(wildcard tests/long/*.c tests/store/long/*.c),parts.a)
BENCHES       := $(call each,bench,$(addprefix tools/bench/,limits.c scale.c shared.c),libashlar.a)
# The first processes of the kernels that run tests (tests/kernel/run).
KERNEL_PROGRAMS := $(call each,kernel,$(wildcard tests/kernel/*.c),libashlar.a)
# A tree need not have the store: tests/long/without_store.sh.
DEMOS = demo $(if $(wildcard core/store),ancestor demo-shared)

LINK = $(CC) $(TARGET) -static -nostdlib -fuse-ld=lld -Wl,-T,linker.ld -Wl,--gc-sections \
	-Wl,-z,max-page-size=$(call cpu,page) -Wl,--build-id=none -Wl,--orphan-handling=error \
	-Wl,--no-eh-frame-hdr -Wl,--fatal-warnings
# -u: libashlar_start.a refers to ash_thread_detach only weakly, which draws nothing out of an archive.
LINK_ASHLAR = $(LINK) -Wl,-u,ash_thread_detach
$(BUILD)/tests/field: LINK_ASHLAR = $(LINK)
# Where pages have several sizes, the kernel is faked: RT_PAGE=65536 (tests/runtime/page.c).
FAKED = $(if $(filter-out 4096,$(call cpu,page)),mmap munmap madvise mremap mincore mprotect msync)
$(BUILD)/tests/all: LINK_ASHLAR += $(FAKED:%=-Wl,--wrap=arch_%)
$(BUILD)/tests/filtered: LINK_ASHLAR += -Wl,-Map=$@.map
# A function __wrap_NAME of a program's own object is called in place of NAME (tests/support/wrap.h).
WRAPPED = $$(cat $(filter %.o,$^) | grep -ao '__wrap_[a-z0-9_]*' | sort -u | sed 's/__wrap_/-Wl,--wrap=/')
$(BUILD)/tests/field $(OWN_PROGRAMS) $(LONG_PROGRAMS): WRAPS = $(WRAPPED)
RUNTIME = $(BUILD)/runtime.a $(BUILD)/libashlar_start.a
$(BUILD)/runtime.a: $(call objects,prog,$(CALLS) $(wildcard tests/runtime/*.c))
$(LINKED): $(RUNTIME) $(BUILD)/sources linker.ld
	$(call says,LINK)
	$(LINK_ASHLAR) $(filter %.o,$^) $(filter %.a,$^) -o $@ $(WRAPS)

# For QEMU on this machine, whatever the CPU of the programs is.
$(BUILD)/steps.so: tests/support/steps_plugin.c tests/support/stepper_calls.h
	$(call says,LINK)
	$(CC) -std=c17 -ffreestanding -nostdlib $(NO_HEADERS) -O2 $(WARNINGS) \
		-fvisibility=hidden -fPIC -shared -fuse-ld=lld -Itests $< -o $@

# ---- scripts ----

# $(call script,TARGET,BUILT BEFORE,COMMAND,FOR OTHER CPUS)
#
#	BUILT BEFORE    by a make of its own, because make setup may install the tools for it
#	FOR OTHER CPUS  $(call for_cpus,CPUS,TARGET): built by a make for each of these CPUs
script = $(eval $(call script_rules,$(strip $1),$(strip $2),$(strip $3),$(strip $4)))
define script_rules
.PHONY: $1
$1: $(if $2,setup)
	$(if $2,$$(MAKE) $$(ALL_JOBS) $2)
	$(if $4,+$4)
	export BUILD=$(BUILD) MAKE="$(MAKE)"; $3
endef
# All CPUs of this machine compile, unless -j says otherwise.
ALL_JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
for_cpus = $(foreach cpu,$1,$$(MAKE) $$(ALL_JOBS) ARCH=$(cpu) BUILD=$(BUILD)/$(cpu) $2 &&) :
# A script that runs for minutes ends when make ends, with all that it started.
GUARD = exec sh tools/guard
RUN_PYTHON = command -v $(PYTHON) >/dev/null || \
	{ echo 'make $$@ needs $(PYTHON); install it with: sudo apt-get install python3' >&2; exit 1; }; $(PYTHON)

## For developers:
##
## make programs       the libraries, the tests and the demonstrations, without running them
TESTS = $(PRODUCT_TESTS:%=$(BUILD)/tests/%) $(OWN_PROGRAMS)
programs: all $(if $(TARGET),,asan) $(TESTS) $(addprefix $(BUILD)/,tests/filtered $(DEMOS) $(if $(EMULATOR),steps.so))
kernel-programs: programs $(KERNEL_PROGRAMS)
# Those of other CPUs for make test.
few-programs: $(addprefix $(BUILD)/,tests/all tests/arch tests/tls_large steps.so libashlar_malloc.so \
	libashlar_profile.so)

CPUS = $(filter-out $(ARCH),$(ALL_CPUS))
RUN_TESTS = ARCH=$(ARCH) CPUS="$(CPUS)" PROGRAMS="$(TESTS)"
## make test           everything that is checked, natively; a part under QEMU, of this CPU and others
$(call script, test, programs, $(RUN_TESTS) $(if $(EMULATOR),SECTIONS=every_$(ARCH)) $(GUARD) sh tools/test, \
	$(if $(EMULATOR),,$(call for_cpus,$(CPUS),few-programs)))
## make test-arch      each test program of each CPU under QEMU: ARCHES="aarch64 riscv64" for some, '$(CPUS)' for the others
ARCHES = $(ARCH) $(CPUS)
$(call script, test-arch, programs, $(RUN_TESTS) SECTIONS="$(ARCHES:%=every_%)" $(GUARD) sh tools/test, \
	$(call for_cpus,$(filter $(CPUS),$(ARCHES)),programs))
## make test-long      what takes minutes (tests/long, and in full what make test thins), natively;
##                     STEPS_SHARE=n leaves each instruction in, and an nth of the repetitions
# These take longest, and run beside the others.
LONG_FIRST = tests/long/steps.sh tests/long/checks.sh
$(call script, test-long, programs $(LONG_PROGRAMS), $(RUN_TESTS) SECTIONS="first second rest" \
	PROGRAMS="$(LONG_FIRST) $(filter-out $(LONG_FIRST),$(wildcard tests/long/*.sh) $(LONG_PROGRAMS))" \
	$(GUARD) sh tools/test)
## make test-kernel    under kernels in qemu-system, and cuts of power (POWER="ext4 xfs btrfs" CUTS=200):
##                     KERNELS="x86_64 aarch64 riscv64"; make setup-kernel fetches the kernels
KERNELS = $(ARCH) $(CPUS)
$(call script, setup-kernel, , sh tests/kernel/setup "$(KERNELS)" $(BUILD)/kernels)
# A kernel that cannot be had here is named, and its boots are skipped.
$(call script, test-kernel, kernel-programs, sh tests/kernel/setup "$(KERNELS)" $(BUILD)/kernels || true; \
	KERNELS="$(KERNELS)" $(GUARD) sh tests/kernel/all, \
	$(call for_cpus,$(filter $(CPUS),$(KERNELS)),kernel-programs))
## make test-programs  real programs with Ashlar as their malloc, which make setup-programs installs: PARTS="linked
##                     real hardened servers origin rust deb packages builds musl recipes shared"
$(call script, setup-programs, , sh tools/programs/setup)
$(call script, test-programs, programs $(BUILD)/bench/shared, $(GUARD) sh tools/programs/run $(PARTS))
## make steps          single steps under QEMU: ARCH=aarch64 or riscv64; STEPS=all for all paths
$(call script, steps, $(BUILD)/tests/all $(BUILD)/steps.so, $(GUARD) sh tools/steps $(ARCH) $(STEPS))
## make soak           what make test thins, in full and with other seeds: SEEDS="1 2 3"
$(call script, soak, programs, $(GUARD) sh tools/soak $(SEEDS))
## make tsan           the heap under ThreadSanitizer; tsan-shared: a heap shared by processes, too; tsan-plant: with
##                     faults that it must find.  make setup-checkers installs what tsan, model and gdb's check need
$(call script, tsan, , $(GUARD) sh tools/tsan/run $(SECONDS))
$(call script, tsan-shared, , SHARED=1 $(GUARD) sh tools/tsan/run $(SECONDS))
$(call script, tsan-plant, , $(GUARD) sh tools/tsan/plant)
$(call script, setup-checkers, , sh tools/setup checkers)
## make model          the protocol of the bitmaps, by spin; memory orders, by relacy
$(call script, model, , $(GUARD) sh tools/model/run)
## make mutants        sources changed in turn: FILES="bits.c map.c" SAMPLE=k/n SHARD=k/n SLOW=n JOBS=n
$(call script, mutants, , $(RUN_PYTHON) tools/mutants/run $(FILES))
## make figures        how much there is to read, beside its limits
$(call script, figures, , $(RUN_PYTHON) tools/figures)
## make golden-accept  takes the instructions of the fast paths as they are now for right
$(call script, golden-accept, programs, \
	{ ! command -v clang-19 >/dev/null || $$(MAKE) CC=clang-19 BUILD=$(BUILD)/clang-19 programs; } && \
	sh tools/golden accept $(BUILD) $(BUILD)/clang-19 $(addprefix $(BUILD)/,$(CPUS)))
## make demo           the demonstration, natively and under QEMU
$(call script, demo, $(BUILD)/demo $(BUILD)/ancestor, \
	ARCH=$(ARCH) EMULATOR="$(EMULATOR)" sh tools/demo/run $(BUILD)/demo)
## make demo-shared    a heap shared by processes that are killed: SECONDS=60 for longer
$(call script, demo-shared, $(BUILD)/demo-shared, $(GUARD) sh tools/shared/run $(SECONDS))
## make bench          Ashlar against every malloc that is installed: SHORT=1 ROUNDS=n PEERS=name:library
## make bench-...      footprint (text, memory and mappings of small programs), cost (instructions, misses, page faults:
##                     ROWS="..."), scale (64 GiB, 10 000 threads), limits (of the fast paths on this CPU), shared
##                     (heaps), kills (of processes that share a heap: KILLS=n)
BENCH = sh tools/bench/build && sh tools/bench
$(call script, bench, all $(BUILD)/tests/hello, $(BENCH)/compare $(ROUNDS) && sh tools/bench/footprint)
$(call script, bench-footprint, all $(BUILD)/tests/hello, $(BENCH)/footprint)
$(call script, bench-cost, all, $(BENCH)/cost)
$(foreach it,$(notdir $(BENCHES)),$(call script, bench-$(it), $(BUILD)/bench/$(it), sh tools/bench/$(it) $(ROUNDS)))
$(call script, bench-kills, $(BUILD)/bench/shared, sh tools/bench/kills)
## make bench-accept   takes the last figures into tools/bench/accepted, BENCHMARKS.md and README.md
$(call script, bench-accept, , sh tools/bench/accept)
## make flags          prints how a test program is compiled and linked, for scripts: eval "$(make -s flags)"
flags:
	echo 'COMPILE="$(CC) $(PROG_FLAGS)" LINK="$(LINK_ASHLAR)" LIBRARY_FLAGS="$(LIB_FLAGS)"' \
		'LIBRARY_SOURCES="$(filter %.c,$(LIB_SOURCES))" $(LIMITS)'
## make format         clang-format over all sources
format:
	clang-format -i $$(git ls-files '*.c' '*.h' | grep -v /stub.h)
