// SPDX-License-Identifier: MIT
// Every public header in C++, and ashlar.hpp at work: prints nothing and returns 0.
//
//	cxx          all that is checked
//	cxx none     asks for more than there is
//	cxx wrong    gives a block back with a size that it cannot have
#include <ashlar.h>
#include <ashlar.hpp>
#include <ashlar_descriptor.h>
#include <ashlar_heap.h>
#include <ashlar_malloc.h>
#include <ashlar_names.h>

#include <cstdio>
#include <cstring>
#include <list>
#include <map>
#include <memory_resource>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);       \
			std::exit(1);                                                              \
		}                                                                                  \
	} while (0)

template <std::size_t n> struct alignas(n) line {
	char bytes[n];
};

using vector = std::vector<int, ashlar::allocator<int>>;
using traits = std::allocator_traits<ashlar::allocator<int>>;
static_assert(traits::propagate_on_container_copy_assignment::value);
static_assert(traits::propagate_on_container_move_assignment::value);
static_assert(traits::propagate_on_container_swap::value);
static_assert(!traits::is_always_equal::value);
static_assert(std::is_same_v<traits::rebind_alloc<char>, ashlar::allocator<char>>);
static_assert(std::is_nothrow_move_assignable_v<vector>);

static std::size_t blocks(ash_heap *heap)
{
	ash_statistics s;
	struct ash_statistics t; // as in C

	if (heap == nullptr)
		ash_stats(&s);
	else
		ash_heap_stats(heap, &s);
	t = s;
	return t.blocks;
}

// Over-aligned objects, one and many.
template <std::size_t n> static void aligned(ash_heap *heap)
{
	std::vector<line<n>, ashlar::allocator<line<n>>> lines(heap);

	for (int i = 0; i < 9; i++) {
		lines.emplace_back();
		std::memset(lines.back().bytes, i, n);
		CHECK(reinterpret_cast<std::uintptr_t>(lines.data()) % n == 0);
		CHECK(ash_heap_of(lines.data()) == heap);
	}
	for (int i = 0; i < 9; i++)
		CHECK(lines[static_cast<std::size_t>(i)].bytes[n - 1] == i);
}

static void containers(ash_heap *heap)
{
	std::size_t before = blocks(heap);
	{
		ashlar::allocator<int> a(heap);
		vector v(a);
		std::list<int, ashlar::allocator<int>> l(a);
		std::map<int, int, std::less<int>, ashlar::allocator<std::pair<const int, int>>> m(a);
		std::unordered_map<int, int, std::hash<int>, std::equal_to<int>,
				   ashlar::allocator<std::pair<const int, int>>> u(a);
		std::basic_string<char, std::char_traits<char>, ashlar::allocator<char>> s(a);

		for (int i = 0; i < 1000; i++) {
			v.push_back(i);
			l.push_front(i);
			m[i] = u[i] = i;
			s += static_cast<char>('a' + i % 26);
		}
		CHECK(ash_heap_of(v.data()) == heap && ash_heap_of(&l.front()) == heap);
		CHECK(ash_heap_of(&m[7]) == heap && ash_heap_of(&u[7]) == heap && ash_heap_of(s.data()) == heap);
		for (int i = 0; i < 1000; i++)
			CHECK(v[static_cast<std::size_t>(i)] == i && m[i] == i && u[i] == i);
		CHECK(l.front() == 999 && s.size() == 1000 && s[27] == 'b');
		CHECK(blocks(heap) > before + 3000);
		v.shrink_to_fit();
		m.erase(5);
		aligned<16>(heap);
		aligned<64>(heap);
		aligned<4096>(heap);
		aligned<65536>(heap);
		a.deallocate(a.allocate(0), 0);
		auto shared = std::allocate_shared<line<128>>(ashlar::allocator<line<128>>(heap));
		CHECK(ash_heap_of(shared.get()) == heap);
	}
	CHECK(blocks(heap) == before);
}

// Containers of two heaps: whose blocks are where after an assignment.
static void propagation()
{
	ashlar::unique_heap one(ash_heap_create(nullptr)), two(ash_heap_create(nullptr));
	{
		vector a({1, 2, 3}, one.get()), b({4, 5}, two.get()), copy(a), moved(std::move(copy));

		CHECK(a.get_allocator() != b.get_allocator());
		CHECK(a.get_allocator() == moved.get_allocator());
		CHECK(ashlar::allocator<char>(a.get_allocator()) == a.get_allocator());
		CHECK(ash_heap_of(moved.data()) == one.get());
		std::swap(a, b);
		CHECK(ash_heap_of(a.data()) == two.get() && ash_heap_of(b.data()) == one.get() && b[2] == 3);
		a = b;
		CHECK(ash_heap_of(a.data()) == one.get() && a[2] == 3);
		a = vector({6}, two.get());
		CHECK(ash_heap_of(a.data()) == two.get() && a[0] == 6);
		vector other(a, one.get());
		CHECK(ash_heap_of(other.data()) == one.get() && other[0] == 6);
	}
	CHECK(blocks(one.get()) == 0 && blocks(two.get()) == 0);
}

// Without a state, in each way that a container asks about it.
static void stateless()
{
	using small = std::vector<int, ashlar::default_allocator<int>>;
	static_assert(sizeof(small) == sizeof(std::vector<int>));
	static_assert(std::allocator_traits<small::allocator_type>::is_always_equal::value);
	static_assert(std::is_nothrow_move_assignable_v<small>);
	std::size_t before = blocks(nullptr);
	{
		small a{1, 2, 3}, b;
		std::map<int, int, std::less<int>, ashlar::default_allocator<std::pair<const int, int>>> m;
		std::vector<line<64>, ashlar::default_allocator<line<64>>> lines(3);

		b = std::move(a);
		m[3] = 4;
		CHECK(b[2] == 3 && ash_heap_of(b.data()) == nullptr && blocks(nullptr) >= before + 3);
		CHECK(reinterpret_cast<std::uintptr_t>(lines.data()) % 64 == 0);
		CHECK(b.get_allocator() == ashlar::default_allocator<char>());
		CHECK(!(m.get_allocator() != b.get_allocator()));
	}
	CHECK(blocks(nullptr) == before);
}

static void resources(ash_heap *heap)
{
	std::size_t before = blocks(heap);
	{
		ashlar::memory_resource r(heap), same(heap), other;
		std::pmr::vector<std::pmr::string> strings(&r);

		CHECK(r == r && r.heap() == heap && other.heap() == nullptr);
#ifdef __cpp_rtti
		CHECK(r == same && (r == other) == (heap == nullptr));
#endif
		CHECK(r != *std::pmr::new_delete_resource());
		for (int i = 0; i < 100; i++)
			strings.emplace_back(100, static_cast<char>('a' + i % 26));
		CHECK(ash_heap_of(strings.data()) == heap && ash_heap_of(strings[30].data()) == heap);
		CHECK(strings[30][99] == 'e');
		for (std::size_t alignment = 1; alignment <= 65536; alignment *= 2)
			for (std::size_t size : {0u, 1u, 20u, 5000u}) {
				void *p = r.allocate(size, alignment);

				CHECK(reinterpret_cast<std::uintptr_t>(p) % alignment == 0);
				r.deallocate(p, size, alignment);
			}
		std::pmr::monotonic_buffer_resource buffer(&r);
		CHECK(ash_heap_of(buffer.allocate(10000)) == heap);
		std::pmr::unsynchronized_pool_resource pool(&r);
		std::pmr::map<int, int> m(&pool);
		for (int i = 0; i < 500; i++)
			m[i] = i;
	}
	CHECK(blocks(heap) == before);
}

static void threads()
{
	ashlar::unique_heap heap(ash_heap_create(nullptr));
	std::vector<std::thread> all;

	for (int i = 0; i < 4; i++)
		all.emplace_back([&heap] {
			for (int k = 0; k < 50; k++) {
				vector v(heap.get());

				for (int n = 0; n < 300; n++)
					v.push_back(n);
				CHECK(v[299] == 299);
			}
		});
	for (std::thread &t : all)
		t.join();
	CHECK(blocks(heap.get()) == 0 && ash_heap_check(heap.get()) == 0);
}

// A container that lies in a shared heap itself, with its elements, is another process's, too.
static void processes(ash_heap *heap)
{
	pid_t child = fork();
	int status = 1;

	if (child == 0) {
		void *at = ash_heap_alloc(heap, sizeof(vector));
		vector *made = new (at) vector(300, 7, ashlar::allocator<int>(heap));

		ash_heap_set_root(heap, made);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	vector *made = static_cast<vector *>(ash_heap_root(heap));
	for (int i = 0; i < 5000; i++)
		made->push_back(i);
	CHECK((*made)[299] == 7 && made->back() == 4999 && ash_heap_of(made->data()) == heap);
	made->~vector();
	ash_heap_release(heap, made);
	CHECK(blocks(heap) == 0 && ash_heap_check(heap) == 0);
}

#ifdef __cpp_exceptions
template <class Error, class F> static bool throws(F f)
{
	try {
		f();
	} catch (const Error &) {
		return true;
	}
	return false;
}
#endif

static char memory[8 << 20];

int main(int argc, char **argv)
{
	volatile std::size_t much = static_cast<std::size_t>(PTRDIFF_MAX) / 8;
	ashlar::allocator<long> a;

	if (argc > 1 && std::strcmp(argv[1], "none") == 0) {
#ifdef __cpp_exceptions
		CHECK(throws<std::bad_alloc>([&] { (void)a.allocate(much); }));
		CHECK(throws<std::bad_array_new_length>([&] { (void)a.allocate(much + 1); }));
		CHECK(throws<std::bad_alloc>([&] { (void)ashlar::memory_resource().allocate(much * 8); }));
		ashlar::unique_heap small(ash_heap_create_in(memory, sizeof memory));
		CHECK(throws<std::bad_alloc>([&] { vector(1 << 22, 0, small.get()); }));
		CHECK(blocks(small.get()) == 0);
		return 0;
#else
		(void)a.allocate(much);
#endif
	}
	if (argc > 1)
		a.deallocate(a.allocate(4), 5);
	ashlar::unique_heap heap(ash_heap_create(nullptr)), in(ash_heap_create_in(memory, sizeof memory));
	ashlar::unique_heap shared(ash_heap_create_shared(std::size_t(64) << 20, nullptr));

	containers(nullptr);
	containers(heap.get());
	containers(in.get());
	containers(shared.get());
	propagation();
	stateless();
	resources(nullptr);
	resources(heap.get());
	resources(shared.get());
	processes(shared.get());
	threads();
	CHECK(ash_check() == 0 && ash_heap_check(heap.get()) == 0 && ash_heap_check(in.get()) == 0);
	return ash_defaults.retain > 0 && ash_alloc(10) != nullptr ? 0 : 1;
}
