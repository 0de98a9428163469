/* SPDX-License-Identifier: MIT */
/*
 * All forms of operator new and delete, by their names in the Itanium C++ ABI, so that neither a C++ compiler nor its
 * library is needed.  They are weak, because the C++ standard requires that a program's own replacement of any of
 * them wins.
 */
#include "facade.h"

#if !IS_MALLOC /* for libashlar_start.a: the public calls, of whichever archive has them */
#define ash_delete(p)	 ash_release(p)
#define ash_delete_sized(p, size) ash_release_sized(p, size)
#define ash_delete_aligned_sized(p, size, alignment) ash_release_aligned_sized(p, alignment, size)
#define ash_alloc_or(size, rest) rest(size)
#else /* not in ashlar.h, like ash_delete and ash_delete_sized (facade.h): see core/front/alloc.h and free.h */
HIDDEN void *ash_alloc_or(size_t size, void *rest(size_t size));
#endif

#define likely(x)   __builtin_expect(!!(x), 1)
#define OPERATOR    EXPORT __attribute__((weak))
#define NAMED(name) __asm__(name)
#define COLD        __attribute__((noinline, cold))

typedef void handler(void);
IF_PRESENT handler *get_new_handler(void) NAMED("_ZSt15get_new_handlerv");

/* Throws std::bad_alloc; may be absent from a static program. */
IF_PRESENT void throw_bad_alloc(void) NAMED("_ZSt17__throw_bad_allocv");

/* The parts of such a throw, which a program that catches std::bad_alloc has linked. */
IF_PRESENT void *allocate_exception(size_t size) NAMED("__cxa_allocate_exception");
IF_PRESENT void throw_exception(void *exception, const void *type, void (*destroy)(void *))
	NAMED("__cxa_throw");
IF_PRESENT extern const char bad_alloc_type[] NAMED("_ZTISt9bad_alloc");
IF_PRESENT extern const char bad_alloc_table[] NAMED("_ZTVSt9bad_alloc");
IF_PRESENT void bad_alloc_destroy(void *self) NAMED("_ZNSt9bad_allocD1Ev");
IF_PRESENT void abort(void);
IF_PRESENT void *dlsym(void *handle, const char *name);
#define NEXT ((void *)-1) /* RTLD_NEXT */

static _Noreturn COLD void no_memory(void)
{
	if (throw_bad_alloc != NULL)
		throw_bad_alloc();
	if (allocate_exception != NULL && throw_exception != NULL && bad_alloc_type != NULL &&
	    bad_alloc_table != NULL && bad_alloc_destroy != NULL) {
		/* An object of one word: a pointer two words into the vtable. */
		const char **exception = allocate_exception(sizeof *exception);

		*exception = bad_alloc_table + 2 * sizeof(void *);
		throw_exception((void *)exception, bad_alloc_type, bad_alloc_destroy);
	}
	if (abort != NULL)
		abort();
	__builtin_trap();
}

/* Calls the new-handler until there is memory.  Returns NULL if there is no handler.  The handler may throw or exit. */
static COLD void *try_again(size_t alignment, size_t size)
{
	void *p;

	do {
		handler *h = get_new_handler != NULL ? get_new_handler() : NULL;

		if (h == NULL)
			return NULL;
		h();
		p = ash_aligned_alloc(alignment, size);
	} while (p == NULL);
	return p;
}

/*
 * A new-handler may throw, and a nothrow form must catch the exception.  C cannot do that, so the C++ library's own
 * nothrow form is called: it calls the throwing form here and catches.  A static program has not linked that form;
 * there the exception propagates to the caller.
 */
typedef void *nothrow_new(size_t size, size_t alignment_or_tag, const void *tag);

static COLD void *nothrow(const char *name, size_t alignment, size_t size)
{
	static const char tag;
	nothrow_new *theirs = NULL;

	if (get_new_handler == NULL || get_new_handler() == NULL)
		return NULL;
	if (dlsym != NULL)
		theirs = (nothrow_new *)dlsym(NEXT, name);
	if (theirs == NULL)
		return try_again(alignment, size);
	return theirs(size, alignment > 1 ? alignment : (size_t)&tag, &tag);
}

static COLD void *must(size_t alignment, size_t size)
{
	void *p = try_again(alignment, size);

	if (p == NULL)
		no_memory();
	return p;
}

#if !IS_MALLOC /* std::nothrow, of the C++ library */
OPERATOR extern const char nothrow_object NAMED("_ZSt7nothrow");
const char nothrow_object;
#endif

/* Makes an alias of another form.  The extra arguments of this form are ignored. */
#define SAME(name, symbol, as, ...)                                                                \
	OPERATOR void *name(__VA_ARGS__) NAMED(symbol) __attribute__((alias(as)))

OPERATOR void *new_one(size_t size) NAMED("_Znwm");
OPERATOR void *new_nothrow(size_t size) NAMED("_ZnwmRKSt9nothrow_t");
OPERATOR void *new_aligned(size_t size, size_t alignment) NAMED("_ZnwmSt11align_val_t");
OPERATOR void *new_aligned_nothrow(size_t size, size_t alignment)
	NAMED("_ZnwmSt11align_val_tRKSt9nothrow_t");

static void *one_rest(size_t size)
{
	void *p = ash_alloc(size);

	return likely(p != NULL) ? p : must(1, size);
}

static void *nothrow_rest(size_t size)
{
	void *p = ash_alloc(size);

	return likely(p != NULL) ? p : nothrow("_ZnwmRKSt9nothrow_t", 1, size);
}

void *new_one(size_t size)
{
	return ash_alloc_or(size, one_rest);
}

void *new_nothrow(size_t size)
{
	return ash_alloc_or(size, nothrow_rest);
}

void *new_aligned(size_t size, size_t alignment)
{
	void *p = ash_aligned_alloc(alignment, size);

	return likely(p != NULL) ? p : must(alignment, size);
}

void *new_aligned_nothrow(size_t size, size_t alignment)
{
	void *p = ash_aligned_alloc(alignment, size);

	return likely(p != NULL) ? p
				 : nothrow("_ZnwmSt11align_val_tRKSt9nothrow_t", alignment, size);
}

SAME(new_many, "_Znam", "_Znwm", size_t);
SAME(new_many_nothrow, "_ZnamRKSt9nothrow_t", "_ZnwmRKSt9nothrow_t", size_t);
SAME(new_many_aligned, "_ZnamSt11align_val_t", "_ZnwmSt11align_val_t", size_t, size_t);
SAME(new_many_aligned_nothrow, "_ZnamSt11align_val_tRKSt9nothrow_t",
     "_ZnwmSt11align_val_tRKSt9nothrow_t", size_t, size_t);

/*
 * In all forms the first argument is the block.  A size is always the second argument, followed by the alignment.  A
 * size that would have given a smaller block is reported (core/front/free.c), for example if an object is deleted
 * through a base class without a virtual destructor.  The other arguments are ignored.
 */
OPERATOR void delete_one(void *p) NAMED("_ZdlPv");
OPERATOR void delete_one_sized(void *p, size_t size) NAMED("_ZdlPvm");

void delete_one(void *p)
{
	ash_delete(p);
}

void delete_one_sized(void *p, size_t size)
{
	ash_delete_sized(p, size);
}

#define DELETE(name, symbol)                                                                       \
	OPERATOR void name(void *p) NAMED(symbol) __attribute__((alias("_ZdlPv")))
#define DELETE_SIZED(name, symbol)                                                                 \
	OPERATOR void name(void *p, size_t size) NAMED(symbol) __attribute__((alias("_ZdlPvm")))

DELETE(delete_many, "_ZdaPv");
DELETE_SIZED(delete_many_sized, "_ZdaPvm");
DELETE(delete_one_aligned, "_ZdlPvSt11align_val_t");
DELETE(delete_many_aligned, "_ZdaPvSt11align_val_t");
OPERATOR void delete_sized_aligned(void *p, size_t size, size_t alignment) NAMED("_ZdlPvmSt11align_val_t");
OPERATOR void delete_many_sized_aligned(void *p, size_t size, size_t alignment) NAMED("_ZdaPvmSt11align_val_t")
	__attribute__((alias("_ZdlPvmSt11align_val_t")));

void delete_sized_aligned(void *p, size_t size, size_t alignment)
{
	ash_delete_aligned_sized(p, size, alignment);
}

DELETE(delete_one_nothrow, "_ZdlPvRKSt9nothrow_t");
DELETE(delete_many_nothrow, "_ZdaPvRKSt9nothrow_t");
DELETE(delete_one_aligned_nothrow, "_ZdlPvSt11align_val_tRKSt9nothrow_t");
DELETE(delete_many_aligned_nothrow, "_ZdaPvSt11align_val_tRKSt9nothrow_t");
