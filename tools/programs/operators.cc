// SPDX-License-Identifier: MIT
// operator new and delete in all forms, threads, exceptions and the C++ library on top of them.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

static int failures;
#define CHECK(condition) ((condition) ? (void)0 : (void)(failures++, std::printf("%d: %s\n", __LINE__, #condition)))

static volatile std::size_t huge = PTRDIFF_MAX;
static int asked;

struct alignas(256) wide {
	char bytes[300];
	~wide() {}
};

struct late { // a destructor at the end of each thread
	std::string *s = nullptr;
	~late() { delete s; std::string again(1000, 'x'); CHECK(again.size() == 1000); }
};
static thread_local late mine;

static void give_up() { asked++; std::set_new_handler(nullptr); }
static void throw_up() { asked++; throw std::bad_alloc(); }

template <class F> static bool throws(F f)
{
	try {
		f();
	} catch (const std::bad_alloc &) {
		return true;
	}
	return false;
}

static bool aligned(const void *p, std::size_t n) { return p != nullptr && reinterpret_cast<std::uintptr_t>(p) % n == 0; }

static void work(int n)
{
	std::map<int, std::string> m;
	std::vector<std::unique_ptr<std::vector<int>>> v;

	mine.s = new std::string(100, 'm');
	for (int i = 0; i < 20000; i++) {
		m[i * n % 1000] = std::string(static_cast<std::size_t>(i % 300), 'c');
		v.push_back(std::make_unique<std::vector<int>>(static_cast<std::size_t>(i % 50)));
		if (v.size() > 100)
			v.clear();
	}
	CHECK(m.size() <= 1000);
}

int main()
{
	// Each form by itself, and through the language.
	::operator delete(::operator new(10));
	::operator delete[](::operator new[](10));
	::operator delete(::operator new(10), std::size_t(10));
	::operator delete[](::operator new[](10), std::size_t(10));
	::operator delete(::operator new(10, std::nothrow), std::nothrow);
	::operator delete[](::operator new[](10, std::nothrow), std::nothrow);
	void *p = ::operator new(10, std::align_val_t(128));
	CHECK(aligned(p, 128));
	::operator delete(p, std::align_val_t(128));
	p = ::operator new[](10, std::align_val_t(4096));
	CHECK(aligned(p, 4096));
	::operator delete[](p, std::size_t(10), std::align_val_t(4096));
	p = ::operator new(10, std::align_val_t(64), std::nothrow);
	CHECK(aligned(p, 64));
	::operator delete(p, std::align_val_t(64), std::nothrow);
	p = ::operator new[](10, std::align_val_t(64), std::nothrow);
	CHECK(aligned(p, 64));
	::operator delete[](p, std::align_val_t(64), std::nothrow);
	wide *w = new wide, *many = new wide[3];
	CHECK(aligned(w, 256) && aligned(many, 256));
	delete w;
	delete[] many;
	delete static_cast<int *>(nullptr);

	// No memory: an exception, NULL, or what the new-handler does.
	CHECK(throws([] { ::operator delete(::operator new(huge)); }));
	CHECK(throws([] { ::operator delete[](::operator new[](huge)); }));
	CHECK(throws([] { ::operator delete(::operator new(huge, std::align_val_t(64))); }));
	CHECK(::operator new(huge, std::nothrow) == nullptr);
	CHECK(::operator new[](huge, std::align_val_t(64), std::nothrow) == nullptr);
	std::set_new_handler(give_up);
	CHECK(throws([] { ::operator delete(::operator new(huge)); }) && asked == 1);
	std::set_new_handler(give_up);
	CHECK(::operator new(huge, std::nothrow) == nullptr && asked == 2);
	std::set_new_handler(throw_up);
	CHECK(throws([] { ::operator delete(::operator new(huge)); }) && asked == 3);
#ifndef STATIC // there the exception leaves nothrow new: ashlar_malloc.h
	CHECK(::operator new(huge, std::nothrow) == nullptr && asked == 4);
	CHECK(::operator new[](huge, std::align_val_t(64), std::nothrow) == nullptr && asked == 5);
#endif
	std::set_new_handler(nullptr);

	std::vector<std::thread> threads;
	for (int i = 1; i <= 8; i++)
		threads.emplace_back(work, i);
	for (auto &t : threads)
		t.join();
	std::printf("%d failures\n", failures);
	return failures != 0;
}
