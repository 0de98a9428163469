// SPDX-License-Identifier: MIT
//
// Ashlar for C++17 and later: the default heap of ashlar.h or a heap of ashlar_heap.h as a
// std::pmr::memory_resource and as the allocator of containers.  To be linked with libashlar.a.
//
//     ashlar::unique_heap heap(ash_heap_create(nullptr));
//     std::vector<int, ashlar::allocator<int>> numbers(heap.get());
//     std::vector<int, ashlar::default_allocator<int>> more; // of the default heap
//
//     ashlar::memory_resource resource(heap.get());
//     std::pmr::string text(&resource);
//
// The first and the last only name the heap: it must outlive each container that uses it, and is not destroyed
// by them.  Any thread may use them, as any thread may use a heap.  A null heap is the default
// heap.  Every alignment up to 1 GiB is served.  Memory goes back with its size and alignment,
// and a wrong one is misuse (ash_release_aligned_sized).
//
// In a shared heap a container that lies there itself is each process's if its allocator is ashlar::allocator; one of
// std::pmr is its maker's alone, as it points to the resource and by that to a table of functions.
//
// Out of memory: std::bad_alloc; a number of objects whose size overflows:
// std::bad_array_new_length.  Without exceptions (-fno-exceptions) the program ends in both
// cases, by std::abort, since a container has no other way to fail; for the default heap
// ash_on_no_memory is called before.  A new-handler is not called.
//
// Without <memory_resource> (an old or partial standard library) only the allocator is defined.
#ifndef ASHLAR_HPP
#define ASHLAR_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#if __has_include(<memory_resource>)
#include <memory_resource>
#endif

#include "ashlar_heap.h"

namespace ashlar {

namespace detail {

// The alignment of each block of so many bytes.
constexpr std::size_t natural_alignment(std::size_t bytes) noexcept
{
	return bytes < 16 ? 8 : 16;
}

// Null: no memory.
inline void *take(ash_heap *heap, std::size_t bytes, std::size_t alignment) noexcept
{
	if (alignment <= natural_alignment(bytes))
		return heap == nullptr ? ash_alloc(bytes) : ash_heap_alloc(heap, bytes);
	return heap == nullptr ? ash_aligned_alloc(alignment, bytes)
			       : ash_heap_aligned_alloc(heap, alignment, bytes);
}

inline void give(ash_heap *heap, void *p, std::size_t bytes, std::size_t alignment) noexcept
{
	if (heap == nullptr && alignment <= natural_alignment(bytes))
		ash_release_sized(p, bytes);
	else if (heap == nullptr)
		ash_release_aligned_sized(p, alignment, bytes);
	else if (alignment <= natural_alignment(bytes))
		ash_heap_release_sized(heap, p, bytes);
	else
		ash_heap_release_aligned_sized(heap, p, alignment, bytes);
}

template <class Error> [[noreturn]] inline void fail()
{
#ifdef __cpp_exceptions
	throw Error();
#else
	std::abort();
#endif
}

} // namespace detail

// ash_heap_destroy at the end of a scope; null is allowed.
struct heap_destroy {
	void operator()(ash_heap *heap) const noexcept
	{
		ash_heap_destroy(heap);
	}
};
using unique_heap = std::unique_ptr<ash_heap, heap_destroy>;

// An allocator in the sense of the standard.  Allocators of the same heap are equal; a
// container that is assigned or swapped takes the heap of the other one with its blocks, and
// a copy of a container uses the same heap as the original.
template <class T> class allocator {
public:
	using value_type = T;
	using propagate_on_container_copy_assignment = std::true_type;
	using propagate_on_container_move_assignment = std::true_type;
	using propagate_on_container_swap = std::true_type;
	using is_always_equal = std::false_type;

	allocator() noexcept = default;
	allocator(ash_heap *heap) noexcept : heap_(heap)
	{
	}
	template <class U> allocator(const allocator<U> &other) noexcept : heap_(other.heap())
	{
	}

	[[nodiscard]] T *allocate(std::size_t n)
	{
		if (n > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T))
			detail::fail<std::bad_array_new_length>();
		void *p = detail::take(heap_, n * sizeof(T), alignof(T));
		if (p == nullptr)
			detail::fail<std::bad_alloc>();
		return static_cast<T *>(p);
	}

	// n: as it was given to allocate.
	void deallocate(T *p, std::size_t n) noexcept
	{
		detail::give(heap_, p, n * sizeof(T), alignof(T));
	}

	ash_heap *heap() const noexcept
	{
		return heap_;
	}

private:
	ash_heap *heap_ = nullptr;
};

template <class T, class U>
bool operator==(const allocator<T> &a, const allocator<U> &b) noexcept
{
	return a.heap() == b.heap();
}

template <class T, class U>
bool operator!=(const allocator<T> &a, const allocator<U> &b) noexcept
{
	return !(a == b);
}

// An allocator of the default heap without a state: a container is not a word larger for it.
template <class T> class default_allocator {
public:
	using value_type = T;
	using is_always_equal = std::true_type;

	default_allocator() noexcept = default;
	template <class U> default_allocator(const default_allocator<U> &) noexcept
	{
	}

	[[nodiscard]] T *allocate(std::size_t n)
	{
		return allocator<T>().allocate(n);
	}

	void deallocate(T *p, std::size_t n) noexcept
	{
		allocator<T>().deallocate(p, n);
	}
};

template <class T, class U> bool operator==(const default_allocator<T> &, const default_allocator<U> &) noexcept
{
	return true;
}

template <class T, class U> bool operator!=(const default_allocator<T> &, const default_allocator<U> &) noexcept
{
	return false;
}

#ifdef __cpp_lib_memory_resource
// Resources of the same heap are equal (without RTTI: each only to itself).
class memory_resource final : public std::pmr::memory_resource {
public:
	memory_resource() noexcept = default;
	explicit memory_resource(ash_heap *heap) noexcept : heap_(heap)
	{
	}

	ash_heap *heap() const noexcept
	{
		return heap_;
	}

private:
	void *do_allocate(std::size_t bytes, std::size_t alignment) override
	{
		void *p = detail::take(heap_, bytes, alignment);
		if (p == nullptr)
			detail::fail<std::bad_alloc>();
		return p;
	}

	void do_deallocate(void *p, std::size_t bytes, std::size_t alignment) override
	{
		detail::give(heap_, p, bytes, alignment);
	}

	bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override
	{
#ifdef __cpp_rtti
		const memory_resource *o = dynamic_cast<const memory_resource *>(&other);

		return o != nullptr && o->heap_ == heap_;
#else
		return this == &other;
#endif
	}

	ash_heap *heap_ = nullptr;
};
#endif

} // namespace ashlar

#endif
