# SPDX-License-Identifier: MIT
"""handoff/process/shared.h from C and from Python (ctypes): 100000 records between processes in
Python, C and C++, and items of all three at a time; the header as a C compiler sees it. What is
refused, names and killed peers: tests/unit/process.
"""

import argparse
import asyncio
import errno
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import shared
from shared import CLOSED, CONSUMER, EMPTY, FULL, NO_WAIT, OK, PRODUCER, TIMED_OUT
from shared import ITEM, Memory, Queue, Ring

HERE = Path(__file__).resolve().parent
COUNT = 100_000
LAYOUT = 42
SECOND = 1_000_000_000
STRICT = ("-pedantic-errors", "-Wall", "-Wextra", "-Wstrict-prototypes", "-Werror")
settings = None  # the command line
library = None


def as_c(*arguments):
    """The compiler of this build, which takes what it is given for C."""
    done = subprocess.run([settings.compiler, "-x", "c", *map(str, arguments)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)


def start(program, role, memory, *numbers, **keywords):
    descriptor = memory.descriptor()
    return subprocess.Popen([*program, role, str(descriptor), *map(str, numbers)], text=True,
                            stdout=subprocess.PIPE, pass_fds=(descriptor,), **keywords)


def python():
    return [sys.executable, str(HERE / "shared.py"), settings.library]


class Header(unittest.TestCase):
    def test_a_c_compiler_takes_it(self):
        for standard in ("c99", "c11", "c17"):
            as_c(f"-std={standard}", *STRICT, "-I", settings.include, "-fsyntax-only",
                 HERE / "peer.c")

    def test_the_library_has_each_function_and_python_knows_it(self):
        text = (Path(settings.include) / "handoff/process/shared.h").read_text()
        text = re.sub(r"//.*", "", text)
        names = set(re.findall(r"\b(handoff_\w+)\(", text))
        self.assertEqual(names, set(shared.ARGUMENTS))
        for name in names:
            self.assertTrue(hasattr(library, name), name)
        for name, value in re.findall(r"\bHANDOFF_(\w+) = (-?\d+)", text):
            self.assertEqual(getattr(shared, name), int(value), name)
        version, = re.findall(r"define HANDOFF_SHARED_VERSION (\d+)", text)
        self.assertEqual(shared.VERSION, int(version))


class Exchange(unittest.TestCase):
    """Each language with each other one, but C++ with itself (tests/unit)."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        path = Path(settings.library)
        program = Path(cls.folder.name) / "peer"
        as_c("-std=c99", "-O1", *STRICT, "-I", settings.include, HERE / "peer.c", "-x", "none",
             path, f"-Wl,-rpath,{path.parent}", "-o", program)
        cls.programs = {"python": python(), "c": [str(program)], "cpp": [settings.peer]}

    def exchange(self, producer, consumer, capacity):
        with Ring.memory(library, capacity, LAYOUT) as memory:
            ends = [start(self.programs[program], role, memory, COUNT)
                    for program, role in ((consumer, "consume"), (producer, "produce"))]
            try:
                told = [end.communicate(timeout=120)[0] for end in ends]
            finally:
                for end in ends:
                    end.kill()
                    end.wait()
            self.assertEqual([end.returncode for end in ends], [0, 0])
            self.assertEqual(told[0], f"{COUNT} right\n")

    def test_python_to_python(self):
        self.exchange("python", "python", 1 << 16)

    def test_python_to_cpp_and_back(self):
        self.exchange("python", "cpp", 1 << 10)
        self.exchange("cpp", "python", 1 << 10)

    def test_c_to_the_others(self):
        for producer, consumer in (("c", "cpp"), ("cpp", "c"), ("c", "python"), ("c", "c")):
            with self.subTest(f"{producer} to {consumer}"):
                self.exchange(producer, consumer, 1 << 14)


    def test_items_of_all_three_at_a_time(self):
        count = COUNT // 5
        programs = list(self.programs.values())
        with Queue.memory(library, 64, ITEM.size, len(programs), LAYOUT) as memory, \
                Queue(memory, ITEM.size, CONSUMER) as into:
            peers = [start(program, "report", memory, count, slot)
                     for slot, program in enumerate(programs)]
            came = [0] * len(peers)
            try:
                while sum(came) != count * len(peers):
                    items = into.pop_batch(100)
                    if items == EMPTY:
                        items = into.pop(60 * SECOND)
                    for slot, number in ITEM.iter_unpack(items):
                        self.assertEqual(number, came[slot])
                        came[slot] += 1
                self.assertEqual([peer.wait(60) for peer in peers], [0] * len(peers))
            finally:
                for peer in peers:
                    peer.kill()
                    peer.communicate()
            self.assertEqual(into.look().size, 0)


class Use(unittest.TestCase):
    def refused(self, error, call, *arguments):
        with self.assertRaises(OSError) as caught:
            call(*arguments)
        self.assertEqual(caught.exception.errno, error, caught.exception)
        self.assertTrue(caught.exception.strerror)
        return caught.exception.strerror

    def test_what_each_call_says(self):
        with Ring.memory(library, 128) as memory, Ring(memory, PRODUCER) as out, \
                Ring(memory, CONSUMER) as into:
            self.assertEqual(into.pop(NO_WAIT), EMPTY)
            self.assertEqual(into.pop(1000), TIMED_OUT)
            self.assertEqual(out.push(b""), OK)
            self.assertEqual(out.push(b"x" * 56), OK)
            self.assertEqual(out.push(b"x" * 56, NO_WAIT), FULL)
            self.assertEqual(out.push(b"x" * 56, 1000), TIMED_OUT)
            self.refused(errno.EMSGSIZE, out.push, b"x" * 57)
            self.refused(errno.EINVAL, out.pop)
            self.refused(errno.EINVAL, into.push, b"x")
            self.assertEqual(into.pop(), b"")
            out.close()
            self.assertEqual(out.push(b"x"), CLOSED)
            self.assertEqual(into.pop(), b"x" * 56)
            self.assertEqual(into.pop(), CLOSED)
            self.assertEqual((into.look().closed, into.look().damaged), (1, 0))

    def test_null_everywhere_is_a_code(self):
        quiet = {"handoff_shared_version", "handoff_last_error", "handoff_memory_free",
                 "handoff_ring_free", "handoff_mpsc_free"}
        for name, types in shared.ARGUMENTS.items():
            if name not in quiet:
                zeros = [kind(0) if kind in NUMBERS else None for kind in types]
                self.assertEqual(getattr(library, name)(*zeros), -errno.EINVAL, name)
                self.assertTrue(library.handoff_last_error(), name)
        self.assertEqual(library.handoff_memory_free(None), OK)
        self.assertEqual(library.handoff_ring_free(None), OK)
        self.assertEqual(library.handoff_mpsc_free(None), OK)

    def test_what_each_call_of_a_queue_says(self):
        with Queue.memory(library, 4, 3, 2) as memory, Queue(memory, 3, CONSUMER) as into, \
                Queue(memory, 3, PRODUCER, 1) as out:
            self.refused(errno.EPROTO, Queue, memory, 3, PRODUCER, 1)
            self.refused(errno.EPROTO, Queue, memory, 3, PRODUCER, 2)
            self.refused(errno.EPROTO, Queue, memory, 4, PRODUCER, 0)
            self.refused(errno.EINVAL, Queue, memory, 3, CONSUMER, 1)
            self.refused(errno.EINVAL, Queue, memory, 0, CONSUMER)
            self.refused(errno.EPROTO, Ring, memory, CONSUMER)
            self.refused(errno.EINVAL, out.pop)
            self.refused(errno.EINVAL, into.push, b"abc")
            self.refused(errno.EINVAL, out.publish)
            self.assertEqual(into.pop(NO_WAIT), EMPTY)
            self.assertEqual(into.pop_batch(2), EMPTY)
            self.assertEqual(into.pop(1000), TIMED_OUT)
            self.assertEqual(out.push_batch(b""), 0)
            self.assertEqual(out.push_batch(b"abcdef"), 2)
            out.claim()[:] = b"ghi"
            out.publish()
            self.assertEqual(out.push_batch(b"jklmno"), 1)
            self.assertEqual(out.push(b"xyz", NO_WAIT), FULL)
            self.assertEqual(out.push(b"xyz", 1000), TIMED_OUT)
            self.assertEqual(out.claim(NO_WAIT), FULL)
            self.assertEqual((into.look().size, into.look().capacity, into.look().producers),
                             (4, 4, 2))
            self.assertEqual(into.pop(), b"abc")
            self.assertEqual(into.pop_batch(2), b"defghi")
            out.close()
            self.assertEqual(out.push(b"xyz"), CLOSED)
            self.assertEqual(into.pop_batch(2), b"jkl")
            self.assertEqual(into.pop_batch(2), CLOSED)
            self.assertEqual((into.look().closed, into.look().damaged), (1, 0))

    def test_bytes_are_shared(self):
        with Memory.create(library, 100) as memory:
            memory.view()[:5] = b"hello"
            memory.publish()
            with Memory.attach(library, memory.descriptor()) as other:
                self.assertEqual(bytes(other.view()[:6]), b"hello\0")
                self.assertEqual(len(other.view()), 100)


class Loop(unittest.TestCase):
    """asyncio waits for a ring among other things."""

    def test_all_comes_and_then_the_end(self):
        count = COUNT // 10
        with Ring.memory(library, 1 << 10, LAYOUT) as memory, Ring(memory, CONSUMER) as into:
            self.assertEqual(asyncio.run(self.take_all(memory, into)), count)

    async def take_all(self, memory, into):
        taken = 0
        over = asyncio.Event()

        def take():
            nonlocal taken
            while True:
                while isinstance(record := into.pop(NO_WAIT), bytes):
                    self.assertEqual(record, shared.record_of(taken))
                    taken += 1
                if record == CLOSED:
                    over.set()
                if record == CLOSED or into.arm():
                    return

        asyncio.get_running_loop().add_reader(into, take)
        take()
        peer = start(python(), "produce", memory, COUNT // 10)
        try:
            await asyncio.wait_for(over.wait(), 120)
        finally:
            peer.kill()
            peer.communicate()
        return taken


NUMBERS = {shared.c_int, shared.c_int64, shared.c_size_t, shared.c_uint, shared.c_uint64}


def main():
    global settings, library
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True, help="the shared library")
    parser.add_argument("--peer", required=True, help="the program of peer.cpp")
    parser.add_argument("--include", required=True, help="the folder of the headers")
    parser.add_argument("--compiler", required=True)
    settings, rest = parser.parse_known_args()
    library = shared.load(settings.library)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
