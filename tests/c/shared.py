# SPDX-License-Identifier: MIT
"""handoff/process/shared.h in Python, by ctypes: a thin layer, which a program may copy.

As a program it is one end of a ring: shared.py LIBRARY produce|consume DESCRIPTOR COUNT, or
producer SLOT of a queue: shared.py LIBRARY report DESCRIPTOR COUNT SLOT. The records and the items
are those of peer.c.
"""

import ctypes
import os
import struct
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p

OK, FULL, EMPTY, CLOSED, TIMED_OUT, READY = 0, 1, 2, 3, 5, 6
FOREVER, NO_WAIT = -1, 0
HUGE_PAGES, ONLY_CREATOR_WRITES, READ_ONLY = 1, 2, 4
WATCHER, PRODUCER, CONSUMER = 0, 1, 2
VERSION = 2


class State(ctypes.Structure):
    _fields_ = [("capacity", c_uint64), ("most", c_uint64), ("size", c_uint64),
                ("closed", ctypes.c_uint32), ("damaged", ctypes.c_uint32)]


class QueueState(ctypes.Structure):
    _fields_ = [("capacity", c_uint64), ("size", c_uint64), ("producers", c_uint64),
                ("closed", ctypes.c_uint32), ("damaged", ctypes.c_uint32)]


ARGUMENTS = {
    "handoff_shared_version": [],
    "handoff_last_error": [],
    "handoff_memory_create": [c_char_p, c_size_t, c_uint64, c_uint, POINTER(c_void_p)],
    "handoff_memory_attach": [c_int, c_uint64, c_size_t, c_uint, POINTER(c_void_p)],
    "handoff_memory_open": [c_char_p, c_uint64, c_size_t, c_uint, POINTER(c_void_p)],
    "handoff_memory_free": [c_void_p],
    "handoff_memory_remove": [c_char_p],
    "handoff_memory_publish": [c_void_p],
    "handoff_memory_bytes": [c_void_p, POINTER(c_void_p), POINTER(c_size_t)],
    "handoff_memory_descriptor": [c_void_p, POINTER(c_int)],
    "handoff_memory_read_only_descriptor": [c_void_p, POINTER(c_int)],
    "handoff_ring_bytes": [c_size_t, POINTER(c_size_t)],
    "handoff_ring_create": [c_void_p, c_size_t, c_size_t],
    "handoff_ring_attach": [c_void_p, c_size_t, c_int, POINTER(c_void_p)],
    "handoff_ring_free": [c_void_p],
    "handoff_ring_push": [c_void_p, c_char_p, c_size_t, c_int64],
    "handoff_ring_pop": [c_void_p, c_void_p, c_size_t, POINTER(c_size_t), c_int64],
    "handoff_ring_claim": [c_void_p, c_size_t, POINTER(c_void_p), c_int64],
    "handoff_ring_publish": [c_void_p, c_size_t],
    "handoff_ring_peek": [c_void_p, POINTER(c_void_p), POINTER(c_size_t), c_int64],
    "handoff_ring_release": [c_void_p],
    "handoff_ring_close": [c_void_p],
    "handoff_ring_peer_died": [c_void_p],
    "handoff_ring_recovered": [c_void_p],
    "handoff_ring_look": [c_void_p, POINTER(State)],
    "handoff_ring_descriptor": [c_void_p, POINTER(c_int)],
    "handoff_ring_arm": [c_void_p],
    "handoff_mpsc_bytes": [c_size_t, c_size_t, c_size_t, POINTER(c_size_t)],
    "handoff_mpsc_create": [c_void_p, c_size_t, c_size_t, c_size_t, c_size_t],
    "handoff_mpsc_attach": [c_void_p, c_size_t, c_size_t, c_int, c_size_t, POINTER(c_void_p)],
    "handoff_mpsc_free": [c_void_p],
    "handoff_mpsc_push": [c_void_p, c_char_p, c_int64],
    "handoff_mpsc_push_batch": [c_void_p, c_char_p, c_size_t, POINTER(c_size_t)],
    "handoff_mpsc_pop": [c_void_p, c_void_p, c_int64],
    "handoff_mpsc_pop_batch": [c_void_p, c_void_p, c_size_t, POINTER(c_size_t)],
    "handoff_mpsc_claim": [c_void_p, POINTER(c_void_p), c_int64],
    "handoff_mpsc_publish": [c_void_p],
    "handoff_mpsc_drop": [c_void_p],
    "handoff_mpsc_peek": [c_void_p, POINTER(c_void_p), c_int64],
    "handoff_mpsc_release": [c_void_p],
    "handoff_mpsc_close": [c_void_p],
    "handoff_mpsc_producer_died": [c_void_p, c_size_t, POINTER(c_size_t)],
    "handoff_mpsc_consumer_died": [c_void_p],
    "handoff_mpsc_recovered": [c_void_p],
    "handoff_mpsc_look": [c_void_p, POINTER(QueueState)],
    "handoff_mpsc_descriptor": [c_void_p, POINTER(c_int)],
    "handoff_mpsc_arm": [c_void_p],
}


def load(path):
    """The library, with the types of its calls."""
    library = ctypes.CDLL(path)
    for name, arguments in ARGUMENTS.items():
        getattr(library, name).argtypes = arguments
    library.handoff_last_error.restype = c_char_p
    if library.handoff_shared_version() != VERSION:
        raise ImportError(f"{path} has version {library.handoff_shared_version()} of shared.h")
    return library


class Handles:
    """What both kinds of handles have: a call that fails is an OSError."""

    def __init__(self, library, free):
        self.library = library
        self.handle = c_void_p()
        self.free = free

    def call(self, name, *arguments):
        said = getattr(self.library, name)(*arguments)
        if said < 0:
            raise OSError(-said, self.library.handoff_last_error().decode())
        return said

    def __enter__(self):
        return self

    def __exit__(self, *_):
        handle, self.handle = self.handle, c_void_p()
        self.call(self.free, handle)


class Memory(Handles):
    def __init__(self, library):
        super().__init__(library, "handoff_memory_free")

    @classmethod
    def create(cls, library, size, layout=0, name=None, flags=0):
        memory = cls(library)
        memory.call("handoff_memory_create", name, size, layout, flags, byref(memory.handle))
        return memory

    @classmethod
    def attach(cls, library, descriptor, layout=0, size=0, flags=0):
        memory = cls(library)
        memory.call("handoff_memory_attach", descriptor, layout, size, flags, byref(memory.handle))
        return memory

    @classmethod
    def open(cls, library, name, layout=0, size=0, flags=0):
        memory = cls(library)
        memory.call("handoff_memory_open", name, layout, size, flags, byref(memory.handle))
        return memory

    def publish(self):
        self.call("handoff_memory_publish", self.handle)

    def descriptor(self):
        found = c_int(-1)
        self.call("handoff_memory_descriptor", self.handle, byref(found))
        return found.value

    def view(self):
        """Its bytes, in place: not to be used once the memory is given back."""
        data, size = c_void_p(), c_size_t()
        self.call("handoff_memory_bytes", self.handle, byref(data), byref(size))
        return memoryview((ctypes.c_ubyte * size.value).from_address(data.value)).cast("B")


class Ring(Handles):
    def __init__(self, memory, role, offset=0):
        super().__init__(memory.library, "handoff_ring_free")
        self.call("handoff_ring_attach", memory.handle, offset, role, byref(self.handle))
        self.buffer = ctypes.create_string_buffer(max(self.look().most, 1))
        self.size = c_size_t()

    @staticmethod
    def memory(library, capacity, layout=0, name=None):
        """Memory with a ring in it, published."""
        size = c_size_t()
        if library.handoff_ring_bytes(capacity, byref(size)) != OK:
            raise ValueError(library.handoff_last_error().decode())
        memory = Memory.create(library, size.value, layout, name)
        memory.call("handoff_ring_create", memory.handle, 0, capacity)
        memory.publish()
        return memory

    def push(self, record, timeout_ns=FOREVER):
        """OK, FULL, CLOSED or TIMED_OUT."""
        return self.call("handoff_ring_push", self.handle, record, len(record), timeout_ns)

    def pop(self, timeout_ns=FOREVER):
        """The record, or EMPTY, CLOSED or TIMED_OUT."""
        said = self.call("handoff_ring_pop", self.handle, self.buffer, len(self.buffer),
                         byref(self.size), timeout_ns)
        return said or ctypes.string_at(self.buffer, self.size.value)

    def close(self):
        self.call("handoff_ring_close", self.handle)

    def peer_died(self):
        self.call("handoff_ring_peer_died", self.handle)

    def recovered(self):
        self.call("handoff_ring_recovered", self.handle)

    def look(self):
        state = State()
        self.call("handoff_ring_look", self.handle, byref(state))
        return state

    def fileno(self):
        """What selectors and asyncio wait on: readable, once it was armed, when to look."""
        found = c_int(-1)
        self.call("handoff_ring_descriptor", self.handle, byref(found))
        return found.value

    def arm(self):
        """After EMPTY: whether to wait now; else look again."""
        return self.call("handoff_ring_arm", self.handle) == OK


class Queue(Handles):
    """Items of one size, from many producers to one consumer."""

    def __init__(self, memory, item_bytes, role, slot=0, offset=0):
        super().__init__(memory.library, "handoff_mpsc_free")
        self.call("handoff_mpsc_attach", memory.handle, offset, item_bytes, role, slot,
                  byref(self.handle))
        self.item_bytes = item_bytes
        self.count = c_size_t()

    @staticmethod
    def memory(library, capacity, item_bytes, producers, layout=0):
        """Memory with a queue in it, published."""
        size = c_size_t()
        if library.handoff_mpsc_bytes(capacity, item_bytes, producers, byref(size)) != OK:
            raise ValueError(library.handoff_last_error().decode())
        memory = Memory.create(library, size.value, layout)
        memory.call("handoff_mpsc_create", memory.handle, 0, capacity, item_bytes, producers)
        memory.publish()
        return memory

    def push(self, item, timeout_ns=FOREVER):
        """OK, FULL, CLOSED or TIMED_OUT."""
        return self.call("handoff_mpsc_push", self.handle, item, timeout_ns)

    def push_batch(self, items):
        """How many of these items, which follow each other, had room."""
        self.call("handoff_mpsc_push_batch", self.handle, items, len(items) // self.item_bytes,
                  byref(self.count))
        return self.count.value

    def pop(self, timeout_ns=FOREVER):
        """The item, or EMPTY, CLOSED or TIMED_OUT."""
        item = ctypes.create_string_buffer(self.item_bytes)
        return self.call("handoff_mpsc_pop", self.handle, item, timeout_ns) or item.raw

    def pop_batch(self, most):
        """As many items as there are, one behind another, or EMPTY or CLOSED."""
        items = ctypes.create_string_buffer(most * self.item_bytes)
        said = self.call("handoff_mpsc_pop_batch", self.handle, items, most, byref(self.count))
        return said or items.raw[:self.count.value * self.item_bytes]

    def claim(self, timeout_ns=FOREVER):
        """FULL, CLOSED or TIMED_OUT, or a view of the place."""
        place = c_void_p()
        said = self.call("handoff_mpsc_claim", self.handle, byref(place), timeout_ns)
        if said != OK:
            return said
        return memoryview((ctypes.c_ubyte * self.item_bytes).from_address(place.value)).cast("B")

    def publish(self):
        self.call("handoff_mpsc_publish", self.handle)

    def close(self):
        self.call("handoff_mpsc_close", self.handle)

    def producer_died(self, slot):
        """How many places it had claimed."""
        self.call("handoff_mpsc_producer_died", self.handle, slot, byref(self.count))
        return self.count.value

    def consumer_died(self):
        self.call("handoff_mpsc_consumer_died", self.handle)

    def look(self):
        state = QueueState()
        self.call("handoff_mpsc_look", self.handle, byref(state))
        return state

    def fileno(self):
        found = c_int(-1)
        self.call("handoff_mpsc_descriptor", self.handle, byref(found))
        return found.value

    def arm(self):
        return self.call("handoff_mpsc_arm", self.handle) == OK


ITEM = struct.Struct("=QQ")  # the producer's number, and that of its item
PATTERN = bytes(range(256)) * 2


def record_of(i):
    first = i % 256
    return i.to_bytes(8, sys.byteorder) + PATTERN[first:first + i % 40]


def produce(ring, count):
    for i in range(count):
        if ring.push(record_of(i)) != OK:
            return 1
    ring.close()
    return 0


def consume(ring, count):
    i = 0
    while isinstance(record := ring.pop(), bytes):
        if record != record_of(i):
            print(f"record {i} is {record!r}", file=sys.stderr)
            return 1
        i += 1
    print(f"{i} right")
    return 0 if record == CLOSED and i == count else 1


def report(queue, slot, count):
    """Items in batches of each size."""
    i = 0
    while i < count:
        until = min(i + 1 + i % 7, count)
        pushed = queue.push_batch(b"".join(ITEM.pack(slot, k) for k in range(i, until)))
        if pushed == 0 and queue.push(ITEM.pack(slot, i)) != OK:
            return 1
        i += pushed or 1
    return 0


def main():
    library, role, descriptor, count = sys.argv[1:5]
    with Memory.attach(load(library), int(descriptor), layout=42) as memory:
        os.close(int(descriptor))
        if role == "report":
            slot = int(sys.argv[5])
            with Queue(memory, ITEM.size, PRODUCER, slot) as queue:
                return report(queue, slot, int(count))
        with Ring(memory, PRODUCER if role == "produce" else CONSUMER) as ring:
            return (produce if role == "produce" else consume)(ring, int(count))


if __name__ == "__main__":
    sys.exit(main())
