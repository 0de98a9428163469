# SPDX-License-Identifier: MIT
"""Commands for gdb: the blocks of a program with Ashlar, live or in a core file.

  ashlar                  figures of the default heap, a row for each size class in use
  ashlar find ADDRESS     what an address is: its block, size, offset, free or taken, owner
  ashlar blocks SIZE [N]  the first N (100) live blocks of the class of SIZE; above 32 KiB those of as many units;
                          above 1 MiB all spans
  ashlar check            whether bitmaps, slabs and chunks agree

They read memory only: nothing is called in the program.  Where the members of the
structures are, the program's descriptor says (ashlar_descriptor.h), so no debug
information is needed; nor a symbol: an ELF note of the program leads to the descriptor.

gdb loads this file by itself for programs that name it in their section .debug_gdb_scripts,
if it finds it (gdb -d DIRECTORY) and may (add-auto-load-safe-path); else: source FILE.
"""

import struct

import gdb

NAME = b"ashlar.heap\0"
VERSION = 1
# The fields of the descriptor, in the order of ashlar_descriptor.h (tests/check/gdb.sh compares).
FIELDS = """
page_size address_bits chunk_shift unit_shift group_shift groups_max map_bits classes class_step
class_linear class_parts slot_max map_bytes map_leaf_bytes ash_defaults_bytes heap_bytes region_bytes
chunk_bytes slab_bytes owner_bytes sharing_shared region_live chunk_slabs chunk_span record_owned
record_unowned owner_flags owner_unowned owner_changing holder_held holder_guest holder_shift life_id
map.root map_leaf.chunk heap.regions heap.owners heap.options heap.id heap.sharing
heap.dirty heap.reserved heap.refused ash_defaults.cap ash_defaults.retain region.next region.heap
region.state region.base region.chunks region.capacity region.stride region.records region.remote
region.remote_stride region.free region.clean region.metadata chunk.kind chunk.base chunk.region
chunk.units chunk.clean chunk.index chunk.span_chunks chunk.span_bytes chunk.head slab.owner slab.base
slab.slots slab.remote slab.chunk slab.slot_size slab.groups slab.class slab.unit slab.units slab.free
owner.next owner.heap owner.state owner.identity
""".split()


def count(word):
    return bin(word).count("1")


class Record:
    """A structure in the program's memory, read at once; members by name."""

    def __init__(self, heap, kind, address, size):
        self.heap, self.kind, self.address = heap, kind, address
        self.bytes = heap.read(address, size)

    def __getitem__(self, member):
        return self.at(member, 0)

    def at(self, member, index):
        offset, size = self.heap.member[self.kind + "." + member]
        offset += index * size
        return int.from_bytes(self.bytes[offset : offset + size], "little")


PT_LOAD, PT_NOTE = 1, 4
AT_PHDR, AT_PHNUM = 3, 5


class Heap:
    def __init__(self):
        try:
            self.descriptor = int(gdb.parse_and_eval("(unsigned long)&ash_descriptor"))
        except gdb.error:
            self.descriptor = self.noted()
        head = self.read(self.descriptor, 72)
        name, version, fields = struct.unpack_from("<16sII", head)
        if not name.startswith(NAME) or version != VERSION or fields < len(FIELDS):
            raise gdb.GdbError("the descriptor is of another version of Ashlar")
        self.release = head[24:40].split(b"\0")[0].decode("ascii", "replace")
        self.default, self.map = struct.unpack_from("<QQ", head, 40)
        values = struct.unpack("<%dI" % len(FIELDS), self.read(self.descriptor + 72, 4 * len(FIELDS)))
        self.number, self.member = {}, {}
        for field, value in zip(FIELDS, values):
            if "." in field:
                self.member[field] = (value & 0xFFFFFF, value >> 24)
            else:
                self.number[field] = value
        self.units = 1 << (self.number["chunk_shift"] - self.number["unit_shift"])

    def noted(self):
        """The descriptor by the note of the program itself, which strip leaves there."""
        words, headers, where = {}, [], None
        try:
            for line in gdb.execute("info auxv", to_string=True).splitlines():
                part = line.split()
                words[int(part[0])] = int(part[-1], 0)
        except (gdb.error, IndexError, ValueError):
            pass
        for i in range(min(words.get(AT_PHNUM, 0), 64)):
            header = self.read(words[AT_PHDR] + 56 * i, 56)
            headers.append(struct.unpack("<IIQQQQQQ", header))
        for kind, _, offset, address, *_ in headers:
            if kind == PT_LOAD and offset == 0:  # the headers follow that of the file
                where = words[AT_PHDR] - 64 - address
        for kind, _, _, address, _, size, _, align in headers:
            if kind != PT_NOTE or where is None or size > 1 << 16:
                continue
            notes, at, align = self.read(where + address, size), 0, 8 if align == 8 else 4
            while at + 12 <= size:
                names, bytes_, type_ = struct.unpack_from("<III", notes, at)
                name = notes[at + 12 : at + 12 + names]
                at += (12 + names + align - 1) // align * align
                if name == NAME and type_ == 1 and bytes_ == 8:
                    return where + address + at + struct.unpack_from("<q", notes, at)[0]
                at += (bytes_ + align - 1) // align * align
        raise gdb.GdbError("no symbol ash_descriptor, and no note of it: no Ashlar here")

    def read(self, address, size):
        try:
            return bytes(gdb.selected_inferior().read_memory(address, size))
        except (gdb.MemoryError, gdb.error):
            raise gdb.GdbError("no memory at 0x%x, or it is not in the core" % address)

    def word(self, address):
        return struct.unpack("<Q", self.read(address, 8))[0]

    def record(self, kind, address):
        return Record(self, kind, address, self.number[kind + "_bytes"])

    def regions(self):
        address, seen = self.record("heap", self.default)["regions"], set()
        while address != 0 and address not in seen:
            seen.add(address)
            region = self.record("region", address)
            if region["state"] == self.number["region_live"]:
                yield region
            address = region["next"]

    def chunks(self):
        """Chunks in use: (record, is free by the region's bitmap, address of its memory)."""
        for region in self.regions():
            n = region["chunks"]
            if n > region["capacity"]:
                raise gdb.GdbError("damaged: region 0x%x has more chunks than records" % region.address)
            free = self.read(region["free"], (n + 63) // 64 * 8)
            for i in range(n):
                if free[i // 8] >> (i % 8) & 1:
                    continue
                chunk = self.record("chunk", region["records"] + i * region["stride"])
                yield chunk, region["base"] + (i << self.number["chunk_shift"])

    def slabs(self, chunk):
        size = self.number["slab_bytes"]
        for unit in range(self.units):
            place = chunk.at("head", unit)
            for first in (self.number["record_owned"], self.number["record_unowned"]):
                if place == first + unit * size:
                    yield unit, place, self.record("slab", chunk.address + place)

    def words(self, slab):
        """For each group: (mask of its slots, free word, remote word)."""
        groups, slots = slab["groups"], slab["slots"]
        unowned = slab["owner"] & self.number["owner_unowned"]
        if groups > self.number["groups_max"]:
            raise gdb.GdbError("damaged: slab 0x%x has too many groups" % slab.address)
        for g in range(groups):
            n = min(64, slots - 64 * g)
            remote = 0 if unowned else self.word(slab["remote"] + 8 * g)
            yield (1 << max(n, 0)) - 1, slab.at("free", g), remote

    def taken(self, slab):
        """The indices of taken slots."""
        for g, (mask, free, remote) in enumerate(self.words(slab)):
            word = mask & ~(free | remote)
            for bit in range(64):
                if word >> bit & 1:
                    yield 64 * g + bit

    def class_size(self, size):
        """Bytes of the smallest slot for so many bytes; 0: a span."""
        n = self.number
        if size > n["slot_max"]:
            return 0
        if size <= 8:
            return 8
        if size <= n["class_linear"]:
            return -(-size // n["class_step"]) * n["class_step"]
        step = (1 << (size - 1).bit_length() - 1) // n["class_parts"]
        return -(-size // step) * step

    def chunk_of(self, address):
        """The record of the chunk with this address, in use or not; None: there is none."""
        bits = self.number["map_bits"]
        top = address >> (self.number["chunk_shift"] + bits)
        if top >> self.number["address_bits"] - self.number["chunk_shift"] - bits != 0:
            return None
        leaf = self.word(self.map + self.member["map.root"][0] + 8 * top)
        if leaf == 0:
            return None
        index = address >> self.number["chunk_shift"] & ((1 << bits) - 1)
        chunk = self.word(leaf + self.member["map_leaf.chunk"][0] + 8 * index)
        return self.record("chunk", chunk) if chunk != 0 else None

    def owner(self, slab):
        word = slab["owner"]
        if word & self.number["owner_unowned"]:
            return "of no thread (for signal handlers)"
        owner = self.record("owner", word & ~self.number["owner_flags"])
        if owner["state"] == 0:
            return "of a thread that has ended"
        identity = owner["identity"] & 0xFFFFFFFF
        return "of thread %d" % identity if identity else "of a thread"


def bytes_text(n):
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if n >= 1 << shift:
            return "%.1f %s" % (n / (1 << shift), unit)
    return "%d bytes" % n


class Ashlar(gdb.Command):
    __doc__ = __doc__

    def __init__(self):
        super().__init__("ashlar", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, True)

    def invoke(self, argument, from_tty):
        if argument:
            raise gdb.GdbError("ashlar | ashlar find ADDRESS | ashlar blocks SIZE [N] | ashlar check")
        heap = Heap()
        rows, spans, span_bytes = {}, 0, 0
        reserved = sum(r["chunks"] for r in heap.regions()) << heap.number["chunk_shift"]
        for chunk, _ in heap.chunks():
            if chunk["kind"] == heap.number["chunk_span"]:
                spans += 1
                span_bytes += chunk["span_bytes"]
            elif chunk["kind"] == heap.number["chunk_slabs"]:
                for _, _, slab in heap.slabs(chunk):
                    row = rows.setdefault(slab["slot_size"], [0, 0, 0, 0, 0])
                    row[0] += 1
                    row[1] += slab["units"] << heap.number["unit_shift"]
                    row[2] += slab["slots"]
                    for mask, free, remote in heap.words(slab):
                        row[3] += count(mask & ~(free | remote))
                        row[4] += count(mask & remote & ~free)
        print("Ashlar %s: %s reserved" % (heap.release, bytes_text(reserved)))
        print("%10s %8s %12s %10s %10s %10s" % ("size", "slabs", "bytes", "slots", "taken", "pending"))
        for size in sorted(rows):
            print("%10d %8d %12d %10d %10d %10d" % (size, *rows[size]))
        if spans:
            print("%10s %8d %12d %10d %10d %10d" % ("spans", spans, span_bytes, spans, spans, 0))
        taken = spans + sum(row[3] for row in rows.values())
        total = span_bytes + sum(size * row[3] for size, row in rows.items())
        print("%d blocks, %d bytes" % (taken, total))


class Find(gdb.Command):
    """ashlar find ADDRESS: what an address is."""

    def __init__(self):
        super().__init__("ashlar find", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        heap = Heap()
        address = int(gdb.parse_and_eval("(unsigned long)(%s)" % argument))
        print("0x%x: %s" % (address, self.describe(heap, address)))

    def describe(self, heap, address):
        chunk = heap.chunk_of(address)
        if chunk is None:
            return "not a block of this allocator"
        if chunk["kind"] == heap.number["chunk_slabs"]:
            unit = address >> heap.number["unit_shift"] & (heap.units - 1)
            place = chunk.at("head", unit)
            if place == 0:
                return "in a free unit: in no slab"
            slab = heap.record("slab", chunk.address + place)
            size = slab["slot_size"]
            if address < slab["base"]:
                return "before the first slot of a slab of %d-byte slots" % size
            index, offset = divmod(address - slab["base"], size) if size else (0, 0)
            if index >= slab["slots"]:
                return "behind the last slot of a slab of %d-byte slots" % size
            _, free, remote = list(heap.words(slab))[index // 64]
            state = "free slot"
            if not (free | remote) >> (index % 64) & 1:
                state = "live block"
            elif not free >> (index % 64) & 1:
                state = "slot that another thread released, not yet collected"
            return "%d bytes into a %s of %d bytes at 0x%x, slot %d of %d in slab 0x%x %s" % (
                offset, state, size, address - offset, index, slab["slots"], slab.address, heap.owner(slab))
        size = 1 << heap.number["chunk_shift"]
        start, back = address & -size, 0
        while chunk is not None and chunk["kind"] != heap.number["chunk_slabs"]:
            if chunk["kind"] == heap.number["chunk_span"]:
                if back < chunk["span_chunks"]:
                    offset = address - start
                    if offset >= chunk["span_bytes"]:
                        return "behind the end of the %d-byte block at 0x%x" % (chunk["span_bytes"], start)
                    return "%d bytes into a live block of %d bytes at 0x%x, a span" % (
                        offset, chunk["span_bytes"], start)
                break
            start, back = start - size, back + 1
            chunk = heap.chunk_of(start)
        return "in a free chunk: in no block"


class Blocks(gdb.Command):
    """ashlar blocks SIZE [N]: live blocks of the class of SIZE or, above 32 KiB, of as many units; the first N (100)."""

    def __init__(self):
        super().__init__("ashlar blocks", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        heap = Heap()
        words = gdb.string_to_argv(argument)
        if not words:
            raise gdb.GdbError("ashlar blocks SIZE [N]")
        size = heap.class_size(int(gdb.parse_and_eval(words[0])))
        limit = int(gdb.parse_and_eval(words[1])) if len(words) > 1 else 100
        found = 0
        for address, block_size in self.addresses(heap, size):
            found += 1
            if found <= limit:
                print("0x%x %d" % (address, block_size))
        print("%d blocks%s" % (found, ", %d shown" % limit if found > limit else ""))

    def addresses(self, heap, size):
        for chunk, base in heap.chunks():
            if chunk["kind"] == heap.number["chunk_span"] and size == 0:
                yield base, chunk["span_bytes"]
            elif chunk["kind"] == heap.number["chunk_slabs"] and size != 0:
                for _, _, slab in heap.slabs(chunk):
                    units = -(-size >> heap.number["unit_shift"])
                    alone = units > 1 and slab["slots"] == 1 and slab["units"] == units
                    if slab["slot_size"] == size or alone:
                        for index in heap.taken(slab):
                            yield slab["base"] + index * slab["slot_size"], slab["slot_size"]


class Check(gdb.Command):
    """ashlar check: compares chunks, slabs and bitmaps, as far as all threads agree on them."""

    def __init__(self):
        super().__init__("ashlar check", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        heap = Heap()
        faults, slabs = [], 0
        for chunk, base in heap.chunks():
            where = "chunk 0x%x" % base
            if chunk["kind"] != heap.number["chunk_slabs"]:
                if chunk["kind"] == heap.number["chunk_span"] and chunk["units"] != 0:
                    faults.append("%s: a span with free units" % where)
                continue
            if chunk["base"] != base:
                faults.append("%s: its record is that of 0x%x" % (where, chunk["base"]))
                continue
            for unit, place, slab in heap.slabs(chunk):
                slabs += 1
                faults += ["%s unit %d: %s" % (where, unit, text)
                           for text in self.slab(heap, chunk, base, unit, place, slab)]
        for fault in faults:
            print(fault)
        print("%d slabs, %d faults" % (slabs, len(faults)))

    def slab(self, heap, chunk, base, unit, place, slab):
        size, units, slots = slab["slot_size"], slab["units"], slab["slots"]
        if slab["owner"] == 0:
            yield "its slab has no owner word"
        gap = slab["base"] - base - (unit << heap.number["unit_shift"])
        # What no slot fills of the last page is before the slots, except in heaps that processes share.
        if gap not in (0, -(slots * size) % 4096) or slab["unit"] != unit:
            yield "its slab is that of another place"
        if size == 0 or size != heap.class_size(size) or units == 0 or unit + units > heap.units:
            yield "a slab of %d-byte slots and %d units cannot be" % (size, units)
            return
        most = 64 * heap.number["groups_max"]
        if slots != min(most, (units << heap.number["unit_shift"]) // size) or slab["groups"] != (slots + 63) // 64:
            yield "%d slots of %d bytes in %d units" % (slots, size, units)
            return
        for u in range(unit, unit + units):
            if chunk.at("head", u) != place:
                yield "unit %d of its slab leads elsewhere" % u
            if chunk["units"] >> u & 1:
                yield "unit %d of its slab is free" % u
        for g, (mask, free, remote) in enumerate(heap.words(slab)):
            if (free | remote) & ~mask:
                yield "group %d has bits beyond the last slot" % g
            if free & remote:
                yield "group %d: slots are both free and released by others (a double free?)" % g


Ashlar()
Find()
Blocks()
Check()
