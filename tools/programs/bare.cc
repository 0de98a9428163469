// SPDX-License-Identifier: MIT
// C++ without a C++ library: operator new and delete are those of libashlar_malloc.a.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
	node *next;
	char *text;
	explicit node(node *n) : next(n), text(new char[100]) { memset(text, 'a', 100); }
	~node() { delete[] text; }
};

static void *work(void *)
{
	for (int round = 0; round < 200; round++) {
		node *head = nullptr;
		for (int i = 0; i < 500; i++)
			head = new node(head);
		while (head != nullptr) {
			node *next = head->next;
			if (head->text[99] != 'a')
				abort();
			delete head;
			head = next;
		}
	}
	return nullptr;
}

int main()
{
	pthread_t t[4];

	for (pthread_t &one : t)
		if (pthread_create(&one, nullptr, work, nullptr) != 0)
			return 1;
	for (pthread_t &one : t)
		pthread_join(one, nullptr);
	puts("0 failures");
	return 0;
}
