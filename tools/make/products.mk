# SPDX-License-Identifier: MIT
# The products, a row each, and how they are built.

# ---- sources ----

# libashlar.a's: without other products' own, and without those that only the amalgamation has.
CPU_SOURCES = $(wildcard arch/$(ARCH)/*.c arch/$(ARCH)/syscall.S)
LIB_SOURCES = $(CPU_SOURCES) $(filter-out $(addprefix core/,malloc/% field/% small/% sample/% hardened/% \
	diagnostics/malloc_needs.c front/free.c front/realloc.c) sys/back.c sys/chance.c, \
	$(wildcard sys/*.c core/*/*.c core/*/*/*.c))
ARENA = $(filter-out %/arena_list.c,$(wildcard core/arena/*.c))
# Sources with hooks that differ where allocations are sampled (core/front/variant.h, core/base/variant.h).
SAMPLE_SOURCES = $(addprefix core/,front/alloc.c front/slot.c front/resize.c front/remote.c sample/sampler.c \
	slab/slab.c thread/refill_large.c)
# System calls of the start and of threads; the library has syscall.S alone.
CALLS = $(addprefix arch/$(ARCH)/,thread.S syscall_runtime.S syscall.S)

PUBLIC  = $(wildcard core/include/*.h*) sys/start/ashlar_start.h
HEADERS = $(addprefix $(BUILD)/include/,$(notdir $(PUBLIC)))
AMALGAMATION = $(BUILD)/amalgamation/ashlar.c

# $(call objects,FOLDER,SOURCES): assembly has the same flags in all products.
objects = $(patsubst %.c,$(BUILD)/$1/%.o,$(filter %.c,$2)) $(patsubst %.S,$(BUILD)/asm/%.o,$(filter %.S,$2))
LIB_OBJECTS    = $(call objects,lib,$(LIB_SOURCES))
SMALL_OBJECTS  = $(call objects,small,$(CPU_SOURCES) $(addprefix sys/,pages.c pages_map.c pages_move.c panic.c \
	process.c text.c) core/base/bits.c core/base/misuse.c core/base/version.c $(ARENA) core/front/hook.c \
	$(wildcard core/small/*.c))
FIELD_OBJECTS  = $(call objects,field,arch/$(ARCH)/memory.c sys/panic.c sys/text.c core/base/misuse.c $(ARENA) \
	core/field/field.c)
# libashlar.a without the code that asks Linux, and with code that asks the program.
CORE_OBJECTS   = $(call objects,lib,$(filter-out sys/% core/store/process/% %/syscall.S,$(LIB_SOURCES)) sys/text.c) \
	$(call objects,core,sys/panic.c $(wildcard sys/system/*.c core/store/process/system/*.c))
SAMPLE_OBJECTS = $(call objects,sample,$(SAMPLE_SOURCES)) \
	$(call objects,lib,$(filter-out $(SAMPLE_SOURCES),$(LIB_SOURCES)))
START_OBJECTS  = $(call objects,start,$(CALLS) arch/$(ARCH)/call_runtime.S $(wildcard sys/start/*.c) core/malloc/new.c)
# Names that a program may define itself, functions that few programs call, and ash_heap_walk, whose source says why.
APART = $(addprefix %/,core/store/data/global_names.o core/diagnostics/heap_walk.o arch/$(ARCH)/memory.o \
	sys/start/cxx.o core/malloc/new.o)

# ---- products ----

# $(call product,FILE,FOLDER,TESTS,LIMIT,FLAGS,OBJECTS,BESIDE)
#
#	FILE     its name in the build folder
#	FOLDER   the folder of the objects that are compiled with FLAGS
#	TESTS    its test programs (tests.mk)
#	LIMIT    the most bytes of code and constants (tests/check/size.sh, field.sh)
#	OBJECTS  are linked into one object, in which only names that begin with ash are global, because a program may
#	         have a class_of of its own; those in APART stay apart; products of the amalgamation have none
#	BESIDE   objects beside that object, in the build folder
product = $(eval $(call product_rules,$(strip $1),$(strip $2),$3,$(strip $4),$5,$(strip $6),$(7:%=$(BUILD)/%)))
define product_rules
PRODUCTS += $(BUILD)/$1
FOLDERS += $2
PRODUCT_TESTS += $3
LIMITS += $(4:%=LIMIT_$2=%)
OBJECTS += $6 $7
$(BUILD)/$1: $(if $6,$(call whole,$1) $(filter $(APART),$6)) $7
$(call whole,$1): $(filter-out $(APART),$6)
$(call parts,$2): $6
$(BUILD)/$2/%.o: FLAGS = $5
endef
whole = $(BUILD)/whole/$(subst -,_,$(patsubst lib%.a,%,$1)).o
# The objects of a folder as an archive, for tests of the insides, which see all names.
parts = $(BUILD)/$(patsubst parts-lib,parts,parts-$1).a

# Beside malloc's names, which are in one object: the operators of C++; malloc_info, which alone needs a C library.
BESIDE_MALLOC = malloc/ashlar_new.o malloc/ashlar_xml.o
SHARED_MALLOC = $(SHARED_CODE) -DASHLAR_SO

$(call product, libashlar.a,        lib,    all,    40960, ,                                 $(LIB_OBJECTS))
# Fewest bytes, and no thread-local storage.
$(call product, libashlar-small.a,  small,  small,  12288, -DASHLAR_SMALL,                   $(SMALL_OBJECTS))
# Heaps in the caller's memory alone, also for CPUs of 32 bits.
$(call product, libashlar-field.a,  field,  field,  8192,  -DASHLAR_FIELD $(call cpu,field), $(FIELD_OBJECTS))
# For a system that is not Linux, of which the program has the calls.
$(call product, libashlar-core.a,   core,   system, ,      -DASHLAR_SYSTEM,                  $(CORE_OBJECTS))
$(call product, libashlar-sample.a, sample, sample, ,      -DASHLAR_SAMPLE,                  $(SAMPLE_OBJECTS))
$(call product, libashlar_names.a,  lib,    ,       ,      , , lib/core/malloc/ancestor.o)
# Threads are an object of their own, with what they call.
$(call product, libashlar_start.a,  start,  ,       ,      -Isys/start, \
	$(filter-out %/start/thread.o,$(START_OBJECTS)), \
	whole/ashlar_threads.o asm/arch/$(ARCH)/start.o lib/arch/$(ARCH)/memory.o)
$(BUILD)/whole/ashlar_threads.o: $(filter-out %/start/begin.o $(APART),$(START_OBJECTS))
$(BUILD)/whole/ashlar_threads.o: GLOBAL = ash_thread
$(call product, libashlar_malloc.a,  malloc, malloc, , $(STATIC_CODE), , malloc/ashlar_malloc.o $(BESIDE_MALLOC))
$(call product, libashlar_malloc.so, so,     ,       , $(SHARED_MALLOC), , so/ashlar_malloc.o so/ashlar_new.o)
$(call product, libashlar_malloc-hardened.a,  hardened, hardened hardened-heaps, , $(STATIC_CODE) -DASHLAR_HARDENED, , \
	hardened/ashlar_malloc.o $(BESIDE_MALLOC))
$(call product, libashlar_malloc-hardened.so, hardened-so, , , $(SHARED_MALLOC) -DASHLAR_HARDENED, , \
	hardened-so/ashlar_malloc.o so/ashlar_new.o)
# A tool: heap profiles of samples, for programs with a C library.  Frame pointers: tools/profile/stack.c.
$(call product, libashlar_profile.so, profile, , , \
	$(SHARED_MALLOC) -DASHLAR_SAMPLE -fno-omit-frame-pointer $(call cpu,profile), , \
	profile/ashlar_malloc.o so/ashlar_new.o $(patsubst tools/%.c,%.o,$(wildcard tools/profile/*.c)))
# The calls of libashlar.a for programs with a C library; a program's own hooks and ash_defaults replace those in it.
$(call product, libashlar.so, shared, , , $(SHARED_CODE), , shared/ashlar.o)
# The same for a program that loads it when the loader has no memory left which threads have from their start.
$(call product, late/libashlar.so, late, , , $(SHARED_CODE) -ftls-model=local-dynamic -DASHLAR_DYNAMIC_TLS, , \
	late/ashlar.o)
LATE = $(BUILD)/late/libashlar.so

# ---- objects ----

# $(call says,WORD): how a recipe begins.
says = mkdir -p $(@D); echo '$1 $@'

# $(call compiled,OBJECTS,SOURCE,FLAGS): with the flags of the objects' folder, too.
compiled = $(eval $(call compiled_rules,$(strip $1),$(strip $2),$(strip $3)))
define compiled_rules
$(1:%=$(BUILD)/%): $2 $(RULES) | $(HEADERS)
	$$(call says,CC  )
	$$(CC) $3 $$(FLAGS) -c $$< -o $$@
endef
$(foreach folder,$(sort $(FOLDERS)),$(call compiled,$(folder)/%.o,%.c,$$(LIB_FLAGS) $$(SIZE)))
$(call compiled, %/ashlar_malloc.o, $(AMALGAMATION), $(AMALGAMATED_FLAGS) -DASHLAR_MALLOC)
$(call compiled, shared/ashlar.o late/ashlar.o hardened/ashlar.o, $(AMALGAMATION), $(AMALGAMATED_FLAGS))
# With the tables that an exception needs on its way through.
$(call compiled, %/ashlar_new.o, core/malloc/new.c, $(MARKED_FLAGS) -Isys -Icore/include -fexceptions -DASHLAR_MALLOC)
$(call compiled, %/ashlar_xml.o, core/malloc/xml.c, $(MARKED_FLAGS) -Isys -Icore/include)
$(call compiled, profile/%.o, tools/profile/%.c, $(MARKED_FLAGS) -fvisibility=hidden -I$(BUILD)/include -Icore/include)
$(call compiled, asan/%.o, tools/sanitize/%.c, $(filter-out $(NO_HEADERS),$(LIB_FLAGS)))
$(call compiled, prog/%.o, %.c, $$(PROG_FLAGS))
$(call compiled, asm/%.o, %.S, $(TARGET) $(FOR_$(ARCH)) $(call cpu,marks) $(DEBUG) -MMD -MP $(NO_HEADERS) -Iarch/$(ARCH))

# Functions that are called once in 64 allocations or less are built for size; these objects are built for speed.
FAST = $(addprefix core/,front/alloc.o front/release.o sample/sampler.o malloc/ancestor.o \
	arena/arena.o arena/arena_alloc.o arena/arena_summary.o heaps/instance_alloc.o heaps/instance_release.o \
	store/calls/draft.o store/calls/hooks_blocks.o store/recover/intent.o store/data/slots.o)
SIZE = $(FOR_SIZE)
$(FAST:%=$(BUILD)/lib/%) $(FAST:%=$(BUILD)/sample/%): SIZE =
$(BUILD)/lib/core/front/resize.o $(BUILD)/sample/core/front/resize.o: SIZE += $(FOR_RESIZE)
# The search for memory, as far as the limits of size allow: of libashlar-field.a not for CPUs of 32 bits, where its 400
# bytes are a fifteenth.
SEARCH = core/arena/arena_alloc.o core/arena/arena_summary.o
# Divisions by a constant: at -Oz they are calls of the compiler's library where a CPU has no such instruction.
DIVIDES = core/arena/arena.o $(if $(findstring rv32im,$(TARGET)),,sys/text.o)
$(SEARCH:%=$(BUILD)/small/%) $(addprefix $(BUILD)/field/,$(if $(call cpu,field),,$(SEARCH)) $(DIVIDES)): SIZE = -Os

$(AMALGAMATION): tools/amalgamate core/amalgamation.c $(BUILD)/sources $(filter-out %_runtime.S,$(wildcard $(addsuffix \
		/*.[chS],arch arch/* sys sys/system core/* core/*/* core/*/*/*)))
	$(call says,MAKE)
	sh tools/amalgamate $(@D)

$(foreach header,$(PUBLIC),$(eval $(BUILD)/include/$(notdir $(header)): $(header)))
$(HEADERS):
	$(call says,COPY)
	cp $< $@

# ---- libraries ----

# The list of all objects changes when a source comes or goes: what is made of them is then made again.  Two makes may
# be here at a time.
$(BUILD)/sources: FORCE
	mkdir -p $(@D)
	echo $(sort $(OBJECTS)) >$@.$$$$; if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi

# Sections stay apart, for --gc-sections.  lld 14 keeps a common symbol, and adds an unused section of its size, COMMON.
ONE_OBJECT = $(CC) $(TARGET) -nostdlib -r -fuse-ld=lld
GLOBAL = ash
$(BUILD)/whole/%.o: $(BUILD)/sources $(RULES)
	$(call says,LINK)
	$(ONE_OBJECT) $(filter %.o,$^) -o $@.new
	$(OBJCOPY) -w --keep-global-symbol='$(GLOBAL)*' -R .llvm_addrsig -R COMMON $@.new $@
	rm $@.new

# An archive is made anew each time, or members whose source is gone would stay; q and not r, which would replace a
# member by another with the same name from another folder.
ARCHIVES = $(filter %.a,$(PRODUCTS)) $(foreach folder,$(sort $(FOLDERS)),$(call parts,$(folder))) $(BUILD)/runtime.a
$(ARCHIVES): $(BUILD)/sources
	$(call says,AR  )
	rm -f $@
	$(AR) qcsD $@ $(filter %.o,$^)

# libashlar.a with code that tells AddressSanitizer, MemorySanitizer and valgrind of its blocks.
ASAN = $(BUILD)/asan/libashlar-asan.a
FOLDERS += asan
$(ASAN): $(patsubst tools/sanitize/%.c,$(BUILD)/asan/%.o,$(wildcard tools/sanitize/*.c)) $(LIB_OBJECTS) \
		tools/sanitize/archive $(BUILD)/sources
	$(call says,AR  )
	LINK='$(ONE_OBJECT)' AR=$(AR) NM=$(NM) OBJCOPY=$(OBJCOPY) sh tools/sanitize/archive $@ $(filter %.o,$^)

# Programs ask for libashlar.so.1; those that are linked with -Wl,-rpath,BUILD find it there.
MAJOR = $(firstword $(subst ., ,$(shell sh tools/install/version)))
# nodelete: its memory would stay, and threads hold the address of a destructor.
# separate-loadable-segments: else the constants that hold addresses begin where the code ends, and may be on two pages
# that are written.
EXPORTS = -Wl,--version-script=core/malloc/version.map -Wl,--dynamic-list=core/malloc/dynamic.list \
	-Wl,-z,separate-loadable-segments -Wl,-T,core/malloc/sections.ld
$(BUILD)/libashlar.so $(LATE): EXPORTS = -Wl,--version-script=core/version.map
$(filter %.so,$(PRODUCTS)): core/version.map $(addprefix core/malloc/,version.map dynamic.list sections.ld) \
		tools/prereloc arch/$(ARCH)/cpu.h
	$(call says,LINK)
	$(CC) $(TARGET) -shared -nostdlib -fuse-ld=lld -Wl,-soname,$(@F).$(MAJOR) $(EXPORTS) -Wl,-z,nodelete \
		-Wl,-z,now -Wl,--no-rosegment -Wl,--gc-sections -Wl,--build-id=none -Wl,--fatal-warnings \
		$(filter %.o,$^) -o $@
	$(if $(filter-out %/libashlar.so,$@),$(if $(call cpu,calls-early),sh tools/prereloc $@))
	ln -sf $(@F) $@.$(MAJOR)
