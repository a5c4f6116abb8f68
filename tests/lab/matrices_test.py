# SPDX-License-Identifier: MIT
"""Real matrices: accuracy against NumPy's float64 product, every form of .npy file that is taken,
every one that is refused, and results that are there as a whole or not at all."""

import functools
import json
import random
import struct
import subprocess
import sys

import numpy as np

from lab_support import DEEP, MISBEHAVING, ONCE, PROGRAM, LabTest

ACCURACY_SHAPES = 50 if DEEP else 20
LARGEST = 3000 if DEEP else 2000
BOUND = {"float32": lambda k: 1e-6, "float64": lambda k: 1e-14 * k}
FILES = ("--a", "a.npy", "--b", "b.npy", "--result", "c.npy")


def npy(header, values=b"", version=(1, 0), length=None):
    """A .npy file with this text for a header."""
    text = header.encode("latin-1")
    size = struct.pack("<H" if version[0] == 1 else "<I", len(text) if length is None else length)
    return b"\x93NUMPY" + bytes(version) + size + text + values


def dictionary(descr="'<f4'", order="False", shape="(2, 2)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


@functools.cache
def best_libraries():
    """Found once here instead of in each of many runs."""
    done = subprocess.run([PROGRAM, "run", "matmul", *ONCE, "--set", "n=64", "--set", "kernel=tile",
                           "--contenders", "seed.single", "--json"], check=True, text=True,
                          capture_output=True, stdin=subprocess.DEVNULL)
    return json.loads(done.stdout)["environment"]["contender_variables"]


FOUR_FLOATS = bytes(16)
REFUSED = {
    "an empty file": (b"", "truncated"),
    "another kind of file": (b"PK\x03\x04" + bytes(60), "does not start as one"),
    "a future format": (npy(dictionary(), FOUR_FLOATS, (4, 0)), "format 4.0"),
    "a middle format": (npy(dictionary(), FOUR_FLOATS, (1, 7)), "format 1.7"),
    "half a length": (b"\x93NUMPY\x01\x00\x10", "truncated"),
    "half a header": (npy(dictionary(), length=500), "truncated"),
    "a huge header": (npy(dictionary(), FOUR_FLOATS, (2, 0), length=0xFFFFFFF0), "a header of"),
    "no dictionary": (npy("[1, 2]"), "no '{'"),
    "an open text": (npy("{'descr"), "a text without an end"),
    "no shape": (npy("{'descr': '<f4', 'fortran_order': False}"), "not all of"),
    "a key twice": (npy("{'shape': (2, 2), 'shape': (2, 2)}"), "'shape' twice"),
    "a strange key": (npy("{'colour': 'red'}"), "unknown key 'colour'"),
    "more after it": (npy(dictionary() + "{}"), "text after the dictionary"),
    "no order": (npy(dictionary(order="Maybe")), "neither True nor False"),
    "integers": (npy(dictionary("'<i4'"), FOUR_FLOATS), "'<i4'; float32 or float64"),
    "half floats": (npy(dictionary("'<f2'"), FOUR_FLOATS), "'<f2'"),
    "complex values": (npy(dictionary("'<c8'"), FOUR_FLOATS * 2), "'<c8'"),
    "objects": (npy(dictionary("'|O'"), FOUR_FLOATS), "'|O'"),
    "no type": (npy(dictionary("''"), FOUR_FLOATS), "''"),
    "records": (npy(dictionary("[('x', '<f4')]"), FOUR_FLOATS), "records"),
    "no dimension": (npy(dictionary(shape="()"), FOUR_FLOATS), "0 dimensions"),
    "one dimension": (npy(dictionary(shape="(4,)"), FOUR_FLOATS), "1 dimensions"),
    "three dimensions": (npy(dictionary(shape="(1, 2, 2)"), FOUR_FLOATS), "3 dimensions"),
    "a negative shape": (npy(dictionary(shape="(-2, 2)"), FOUR_FLOATS), "no whole number"),
    "too long a number": (npy(dictionary(shape=f"({2**64}, 2)")), "beyond any memory"),
    "too many values": (npy(dictionary(shape=f"({2**40}, {2**40})")), "beyond any memory"),
    "too many bytes": (npy(dictionary(shape=f"({2**62}, 2)")), "beyond any memory"),
    "a missing value": (npy(dictionary(), FOUR_FLOATS[:-1]), "need 16 bytes, 15 are left"),
}


class Matrices(LabTest):
    def setUp(self):
        super().setUp()
        self.environment = {}

    def save(self, name, matrix, version=None):
        with open(self.folder / name, "wb") as file:
            np.lib.format.write_array(file, matrix, version)

    def multiply(self, *more):
        done = self.run_lab("run", "matmul", *FILES, *more, environment=self.environment,
                            exit_code=0)
        self.assertEqual(len(done.stdout.splitlines()), 1)
        return np.load(self.folder / "c.npy")

    def product_of(self, a, b, *more):
        self.save("a.npy", a)
        self.save("b.npy", b)
        return self.multiply(*more)

    def assert_accurate(self, c, a, b):
        exact = a.astype(np.float64) @ b.astype(np.float64)
        self.assertEqual(c.shape, exact.shape)
        self.assertEqual(c.dtype, np.result_type(a, b).newbyteorder("="))
        norm = np.linalg.norm(exact)
        error = np.linalg.norm(c - exact)
        self.assertLessEqual(error, BOUND[c.dtype.name](a.shape[1]) * norm, (a.shape, b.shape))

    def use_the_best_libraries(self):
        self.environment = best_libraries()

    def test_accuracy_on_random_shapes(self):
        seed = random.SystemRandom().randrange(2**32)
        print("seed", seed, file=sys.stderr)
        numbers = np.random.default_rng(seed)
        self.use_the_best_libraries()
        for trial in range(ACCURACY_SHAPES):
            # Spread over all magnitudes; the first two are as large as they get.
            spread = np.rint(LARGEST ** numbers.random(3)).astype(int)
            m, k, n = spread if trial > 1 else [LARGEST] * 3
            kind = ("float32", "float64")[trial % 2]
            a = numbers.standard_normal((m, k)).astype(kind)
            b = numbers.standard_normal((k, n)).astype(kind)
            with self.subTest(seed=seed, trial=trial, m=m, k=k, n=n, kind=kind):
                self.assert_accurate(self.product_of(a, b), a, b)

    def test_every_form_of_file(self):
        numbers = np.random.default_rng(1)
        self.use_the_best_libraries()
        plain = [numbers.standard_normal((13, 7)), numbers.standard_normal((7, 5))]
        for version in [(1, 0), (2, 0), (3, 0)]:
            for kinds in [("<f4", ">f4"), (">f8", "<f8"), ("<f4", "<f8"), (">f8", "<f4")]:
                for orders in ["CC", "FC", "CF", "FF"]:
                    a, b = (np.array(matrix, dtype=kind, order=order)
                            for matrix, kind, order in zip(plain, kinds, orders))
                    with self.subTest(version=version, kinds=kinds, orders=orders):
                        self.save("a.npy", a, version)
                        self.save("b.npy", b, version)
                        self.assert_accurate(self.multiply("--set", "width=3"), a, b)

    def test_a_zero_dimension_gives_zeros(self):
        for m, k, n in [(3, 0, 4), (0, 3, 4), (3, 4, 0), (0, 0, 0)]:
            with self.subTest(m=m, k=k, n=n):
                c = self.product_of(np.ones((m, k), np.float32), np.ones((k, n), np.float64))
                self.assertEqual((c.shape, c.dtype), ((m, n), np.float64))
                self.assertFalse(c.any())

    def test_values_that_are_not_finite_or_leave_the_range(self):
        self.use_the_best_libraries()
        a = np.array([[1, np.inf], [np.nan, 1], [3e38, 3e38], [1, 2]], np.float32)
        c = self.product_of(a, np.ones((2, 3), np.float32))
        self.assertTrue(np.isinf(c[0]).all() and np.isnan(c[1]).all() and np.isinf(c[2]).all())
        self.assertTrue((c[3] == 3).all())

    def test_the_result_replaces_an_older_one(self):
        (self.folder / "c.npy").write_bytes(b"old")
        self.use_the_best_libraries()
        a = np.eye(4)
        self.assertTrue((self.product_of(a, a) == a).all())
        self.assertEqual(self.files(), ["a.npy", "b.npy", "c.npy"])


class Refused(LabTest):
    def setUp(self):
        super().setUp()
        np.save(self.folder / "a.npy", np.eye(2, dtype=np.float32))
        np.save(self.folder / "b.npy", np.eye(2, dtype=np.float32))

    def assert_matrices_refused(self, *arguments, mentions):
        self.assert_refused("run", "matmul", *arguments, mentions=mentions)

    def test_every_bad_file(self):
        for what, (content, words) in REFUSED.items():
            for name in ["a.npy", "b.npy"]:
                good = (self.folder / name).read_bytes()
                (self.folder / name).write_bytes(content)
                with self.subTest(what=what, name=name):
                    self.assert_matrices_refused(*FILES, mentions=[f"{name}: ", words])
                (self.folder / name).write_bytes(good)

    def test_inputs_that_are_no_files(self):
        for name, words in [("none.npy", "no such file"), (".", "no regular file"),
                            ("/dev/zero", "no regular file")]:
            self.assert_matrices_refused("--a", name, "--b", "b.npy", "--result", "c.npy",
                                         mentions=[name, words])

    def test_shapes_that_do_not_fit(self):
        np.save(self.folder / "a.npy", np.ones((2, 3)))
        self.assert_matrices_refused(*FILES, mentions=["a.npy is 2 x 3", "b.npy is 2 x 2"])

    def test_products_beyond_the_memory(self):
        np.save(self.folder / "a.npy", np.ones((2**20, 1), np.float32))
        np.save(self.folder / "b.npy", np.ones((1, 2**30 // 64), np.float32))
        self.assert_matrices_refused(*FILES, mentions=["1048576 x 16777216", "GiB"])
        (self.folder / "a.npy").write_bytes(npy(dictionary(shape=f"({2**31}, 0)")))
        (self.folder / "b.npy").write_bytes(npy(dictionary(shape=f"(0, {2**31})")))
        self.assert_matrices_refused(*FILES, mentions=["2147483648"])

    def test_results_that_cannot_be_written(self):
        for name, words in [("no/c.npy", "No such file"), (".", "folder"),
                            ("a.npy", "replace an input"), ("./b.npy", "replace an input")]:
            with self.subTest(name=name):
                self.assert_matrices_refused("--a", "a.npy", "--b", "b.npy", "--result", name,
                                             mentions=[name, words])
        (self.folder / "link.npy").symlink_to("a.npy")
        self.assert_matrices_refused("--a", "a.npy", "--b", "b.npy", "--result", "link.npy",
                                     mentions=["replace an input"])

    def test_options_that_do_not_fit(self):
        for more, words in [(("--set", "n=3"), "only width"),
                            (("--set", "width=1,2"), "only width"),
                            (("--set", "width=0"), "1 to 256"), (("--json",), "--json"),
                            (("--contenders", "peer.*"), "one contender"),
                            (("--contenders", "limit.fma"), "limit.fma")]:
            with self.subTest(more=more):
                self.assert_matrices_refused(*FILES, *more, mentions=[words])
        self.assert_refused("run", "matmul", "--a", "a.npy", mentions=["--result"])
        self.assert_refused("run", *FILES, mentions=["run matmul"])

    def test_a_broken_contender_writes_nothing(self):
        for name, words in [("peer.wrong", "wrong answer: element"),
                            ("peer.almost", "wrong answer"),
                            ("peer.nothing", "wrong answer"), ("peer.crash", "SIGSEGV"),
                            ("peer.hang", "hung"), ("peer.leaves", "exit code 7")]:
            with self.subTest(name=name):
                # What hangs is waited for as long as half of the budget.
                budget = "1" if name == "peer.hang" else "4"
                done = self.run_lab("run", "matmul", *FILES, "--manifest", MISBEHAVING,
                                    "--contenders", name, "--time-budget", budget,
                                    environment=best_libraries(), exit_code=1)
                self.assertIn(words, done.stderr)
                self.assertIn("nothing was written", done.stderr)
                self.assertEqual(self.files(), ["a.npy", "b.npy"])
