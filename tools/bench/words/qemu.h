/* SPDX-License-Identifier: MIT */
/* What QEMU's plugin interface has of this, version 1 (7.2, no header of which Debian ships). */
#ifndef WORDS_QEMU_H
#define WORDS_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct info;
enum { MEMORY_BOTH = 3 };
typedef void on_block(uint64_t id, struct qemu_plugin_tb *block);
typedef void on_execution(unsigned cpu, void *data);
typedef void on_access(unsigned cpu, uint32_t access, uint64_t address, void *data);
typedef void on_return(uint64_t id, unsigned cpu, int64_t number, int64_t result);
typedef void on_call(uint64_t id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c,
		     uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, on_block *call);
void qemu_plugin_register_vcpu_syscall_cb(uint64_t id, on_call *call);
void qemu_plugin_register_vcpu_syscall_ret_cb(uint64_t id, on_return *call);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, on_execution *call, int flags,
					  void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, on_execution *call, int flags,
					    void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, on_access *call, int flags, int which,
				      void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
unsigned qemu_plugin_mem_size_shift(uint32_t access);
bool qemu_plugin_mem_is_store(uint32_t access);

EXPORT extern int qemu_plugin_version;
EXPORT int qemu_plugin_install(uint64_t id, const struct info *info, int argc, char **argv);

#endif
