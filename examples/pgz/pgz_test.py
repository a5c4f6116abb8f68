#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pgz, looked at from outside: gunzip reads what it writes, at the size of pigz, and whatever goes
wrong is one line, with no half-written file.

usage: pgz_test.py PGZ
"""

import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

PGZ = sys.argv.pop(1)
BLOCK = 128 << 10


def text(size, seed=1):
    draw = random.Random(seed)
    words = [bytes(draw.choices(b"abcdefghijklmnop", k=draw.randint(2, 9))) for _ in range(3000)]
    parts, length = [], 0
    while length < size:
        parts.append(draw.choice(words))
        length += len(parts[-1]) + 1
    return b" ".join(parts)[:size]


def pgz(*arguments, data=b"", **others):
    return subprocess.run([PGZ, *arguments], input=data, capture_output=True, timeout=60, **others)


def gunzip(data):
    return subprocess.run(["gzip", "-dc"], input=data, capture_output=True, check=True).stdout


class Pgz(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def says_one_line(self, ended, code, *words):
        self.assertEqual(ended.returncode, code, ended.stderr)
        self.assertEqual(ended.stderr.count(b"\n"), 1, ended.stderr)
        self.assertTrue(ended.stderr.startswith(b"pgz: "), ended.stderr)
        for word in words:
            self.assertIn(word.encode(), ended.stderr)

    def test_gunzip_reads_it_at_every_size(self):
        for size in (0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 7 * BLOCK + 12345):
            for data in (text(size), random.Random(size).randbytes(size), bytes(size)):
                ended = pgz(data=data)
                self.assertEqual((ended.returncode, ended.stderr), (0, b""))
                self.assertEqual(gunzip(ended.stdout), data, size)

    def test_every_level_and_width_writes_the_same_stream(self):
        data = text(5 * BLOCK)
        sizes = []
        for level in ("-1", "-6", "-9"):
            outputs = {pgz(level, "-p", width, data=data).stdout for width in ("1", "2", "5")}
            self.assertEqual(len(outputs), 1)  # nothing depends on the width
            sizes.append(len(outputs.pop()))
        self.assertGreater(sizes[0], sizes[1])
        self.assertGreaterEqual(sizes[1], sizes[2])

    @unittest.skipUnless(shutil.which("pigz"), "pigz is not installed")
    def test_it_is_as_small_as_pigz(self):
        data = text(20 * BLOCK)
        other = subprocess.run(["pigz", "-6", "-c"], input=data, capture_output=True, check=True)
        self.assertLess(abs(len(pgz(data=data).stdout) / len(other.stdout) - 1), 0.01)

    def test_files(self):
        path = self.folder / "words"
        path.write_bytes(text(3 * BLOCK))
        self.assertEqual(pgz(str(path)).returncode, 0)
        self.assertEqual(gunzip((self.folder / "words.gz").read_bytes()), path.read_bytes())
        other = self.folder / "other"
        self.assertEqual(pgz("-o", str(other), "-", data=b"abc").returncode, 0)
        self.assertEqual(gunzip(other.read_bytes()), b"abc")
        self.assertEqual(sorted(os.listdir(self.folder)), ["other", "words", "words.gz"])

    def test_a_stream_comes_out_while_it_goes_in(self):
        data = random.Random(2).randbytes(64 * BLOCK)
        has_come = threading.Event()

        def feed(into):
            into.write(data)
            into.flush()
            has_come.wait(60)
            into.close()

        with subprocess.Popen([PGZ], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            feeder = threading.Thread(target=feed, args=(process.stdin,))
            feeder.start()
            begun = process.stdout.read(32 * BLOCK)  # the input is not at its end
            has_come.set()
            rest = process.stdout.read()
            feeder.join()
            self.assertEqual(process.wait(), 0)
        self.assertEqual(gunzip(begun + rest), data)

    def test_errors_are_one_line(self):
        self.says_one_line(pgz(str(self.folder / "none")), 1, "cannot open", "none", "name a file")
        self.says_one_line(pgz(str(self.folder), "-o", "-"), 1, "cannot read", str(self.folder))
        self.says_one_line(pgz("-o", str(self.folder / "no" / "x")), 1, "cannot create")
        self.says_one_line(pgz("-o", str(self.folder / ("x" * 5000))), 1, "too long a name")
        self.says_one_line(pgz("-o", str(self.folder)), 1, "cannot rename to")
        for wrong in (["-p", "0"], ["-p", "1x"], ["--what"], ["a", "b"], ["-o"]):
            self.says_one_line(pgz(*wrong), 2, "usage")
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_full_disk_leaves_nothing(self):
        with open("/dev/full", "wb") as full:
            ended = subprocess.run([PGZ], input=text(20 * BLOCK), stdout=full,
                                   stderr=subprocess.PIPE, timeout=60)
        self.says_one_line(ended, 1, "cannot write standard output", "No space left")

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (BLOCK, BLOCK))
        ended = pgz("-o", str(self.folder / "big.gz"), data=random.Random(3).randbytes(8 * BLOCK),
                    preexec_fn=small_files)
        self.says_one_line(ended, 1, "cannot write", "big.gz")
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_reader_that_ends(self):
        with subprocess.Popen([PGZ], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.close()
            try:
                process.stdin.write(random.Random(4).randbytes(64 * BLOCK))
                process.stdin.close()
            except BrokenPipeError:
                pass
            process.stdin = None
            said = process.stderr.read()
            self.assertEqual(process.wait(), 1)
        self.assertEqual(said.count(b"\n"), 1, said)
        self.assertIn(b"its reader has ended", said)

    def test_a_signal_leaves_nothing(self):
        command = [PGZ, "-o", str(self.folder / "x")]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
            process.stdin.write(text(BLOCK * 2))
            process.stdin.flush()
            while not os.listdir(self.folder):
                pass
            process.send_signal(signal.SIGTERM)
            process.stdin.close()
            self.assertEqual(process.wait(), -signal.SIGTERM)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
