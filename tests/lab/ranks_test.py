# SPDX-License-Identifier: MIT
"""Products by ranks that mpirun starts: right answers however the files are, on three hosts too;
for all that goes wrong one clear line within 10 s, no rank left, and nothing overwritten."""

import os
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

import numpy as np

from lab_support import ONCE, PROGRAM, LabTest, ScenarioTest, processes_in
from three_hosts import ThreeHosts

FILES = ("run", "matmul", "--a", "a.npy", "--b", "b.npy", "--result", "c.npy")
MOST_S = 10
LARGE = 8000  # a product that takes longer than any test waits

RANK_PROGRAM = Path(PROGRAM).parent / "libexec" / "handoff" / "ranks" / "own.matmul"
needs_mpi = unittest.skipUnless(RANK_PROGRAM.exists(), "this build has no ranks: no Open MPI")


class RanksTest(LabTest):
    def setUp(self):
        super().setUp()
        self.folder = self.folder.resolve()
        self.environment = {}
        self.before = ()  # words before the command

    def save(self, a, b):
        np.save(self.folder / "a.npy", a)
        np.save(self.folder / "b.npy", b)

    def save_random(self, m=120, k=70, n=50):
        numbers = np.random.default_rng(m)
        self.save(numbers.standard_normal((m, k), np.float32),
                  numbers.standard_normal((k, n), np.float32))

    def save_large(self):
        """All zeros, and no blocks of a disk."""
        for name in ("a.npy", "b.npy"):
            with open(self.folder / name, "wb") as file:
                np.lib.format.write_array_header_1_0(
                    file, {"descr": "<f4", "fortran_order": False, "shape": (LARGE, LARGE)})
                file.truncate(file.tell() + LARGE * LARGE * 4)

    def begin(self, *more, **how):
        return self.start(*self.before, PROGRAM, *FILES, *more, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env={**os.environ, **self.environment}, **how)

    def multiply(self, *more):
        process = self.begin(*more)
        said, why = process.communicate()
        self.assertEqual(process.returncode, 0, why)
        self.assertEqual(len(said.splitlines()), 1)
        a, b, c = (np.load(self.folder / f"{name}.npy", mmap_mode="r") for name in "abc")
        some = slice(None, None, 1 + len(a) // 10_000)
        exact = a[some].astype(np.float64) @ b.astype(np.float64)
        self.assertEqual(c.shape, (a.shape[0], b.shape[1]))
        self.assertLess(np.linalg.norm(c[some] - exact), 1e-5 * np.linalg.norm(exact))
        self.assertEqual(self.left(), ["a.npy", "b.npy", "c.npy"])
        return c

    def left(self):
        return [name for name in self.files() if name not in ("agent", "bin")]

    def assert_fails(self, process, code, *mentions, since=None):
        """It ends in time, with one line of these words and all ranks; the old result stays."""
        since = since or time.monotonic()
        said, why = process.communicate(timeout=60)
        took = time.monotonic() - since
        self.assertEqual((process.returncode, said), (code, ""), why)
        self.assertEqual(len(why.splitlines()), 1, why)
        for words in mentions:
            self.assertIn(words, why)
        while processes_in(self.folder) and time.monotonic() < since + MOST_S:
            time.sleep(0.05)
        self.assertEqual(processes_in(self.folder), [])
        self.assertLess(took, MOST_S)
        self.assertEqual((self.folder / "c.npy").read_bytes(), b"old")
        self.assertEqual(self.left(), ["a.npy", "b.npy", "c.npy"])

    def have_old_result(self):
        (self.folder / "c.npy").write_bytes(b"old")

    def wait_for_ranks(self, process, count):
        """Until so many compute."""
        def computing():
            return [pid for pid in processes_in(self.folder) if is_rank(pid)]
        while len(computing()) < count:
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        time.sleep(1)
        return computing()


def is_rank(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"/ranks/" in file.read().split(b"\0")[0]
    except OSError:  # it has ended since
        return False


@needs_mpi
class OnThisMachine(RanksTest):
    def test_every_form_of_file_at_every_number_of_ranks(self):
        numbers = np.random.default_rng(1)
        plain = [numbers.standard_normal((130, 37)), numbers.standard_normal((37, 25))]
        for ranks, (kinds, orders) in enumerate([(("<f4", "<f4"), "CC"), ((">f4", "<f4"), "FC"),
                                                 (("<f8", ">f8"), "CF"), (("<f8", "<f4"), "FF")]):
            a, b = (np.array(matrix, dtype=kind, order=order)
                    for matrix, kind, order in zip(plain, kinds, orders))
            with self.subTest(kinds=kinds, orders=orders):
                self.save(a, b)
                c = self.multiply("--ranks", ranks + 1, "--oversubscribe")
                self.assertEqual(c.dtype, np.result_type(a, b).newbyteorder("="))

    def test_matrices_larger_than_the_memory_of_a_rank(self):
        self.save_random(2_500_000, 4, 48)  # a result of 480 MB
        limit = 360 << 10  # KiB, as OpenBLAS wants 256 MiB for itself
        self.before = ("sh", "-c", f"ulimit -d {limit}; exec \"$@\"", "sh")
        self.multiply("--ranks", 2, "--oversubscribe")

    def test_a_rank_that_is_killed(self):
        self.save_large()
        self.have_old_result()
        process = self.begin("--ranks", 2, "--oversubscribe")
        os.kill(self.wait_for_ranks(process, 2)[0], signal.SIGKILL)
        self.assert_fails(process, 1, "signal 9 (Killed)", "nothing was written")

    def test_ctrl_c(self):
        self.save_large()
        self.have_old_result()
        process = self.begin("--ranks", 2, "--oversubscribe")
        self.wait_for_ranks(process, 2)
        process.send_signal(signal.SIGINT)
        process.communicate()
        self.assertEqual(process.returncode, 130)
        self.assertEqual(processes_in(self.folder), [])
        self.assertEqual(self.left(), ["a.npy", "b.npy", "c.npy"])


@needs_mpi
class CannotBegin(RanksTest):
    def setUp(self):
        super().setUp()
        self.save_random()
        self.have_old_result()

    def test_no_mpirun(self):
        self.environment = {"PATH": str(self.folder)}
        self.assert_fails(self.begin("--ranks", 2), 2, "no mpirun", "openmpi-bin")

    def test_too_few_slots(self):
        self.assert_fails(self.begin("--ranks", 2, "--hosts", "localhost:1"), 2,
                          "no slots for 2 ranks", "--oversubscribe")

    def test_a_host_that_does_not_answer(self):
        agent = self.folder / "agent"
        self.environment = {"OMPI_MCA_plm_rsh_agent": str(agent)}
        for does, words in (("exec sleep 60", "silent for 5 s"),
                            ("echo no road; exit 1", "no road")):
            agent.write_text(f"#!/bin/sh\n{does}\n")
            agent.chmod(0o755)
            self.assert_fails(self.begin("--ranks", 2, "--hosts", "localhost,192.0.2.7"), 2,
                              f"a host does not answer: 192.0.2.7: {words}")

    def test_different_builds(self):
        """Rank 1 is a build of its own."""
        folder = self.folder / "bin"
        folder.mkdir()
        other = folder / "other"
        nothing = bytes.fromhex("662e0f1f8400")  # an instruction that fills a gap
        code = RANK_PROGRAM.read_bytes()
        self.assertIn(nothing + bytes(4), code)
        other.write_bytes(code.replace(nothing + bytes(4), nothing + b"\1" * 4))
        other.chmod(0o755)
        real = shutil.which("mpirun")
        (folder / "mpirun").write_text(
            f"#!/bin/bash\nfor word; do [ -x \"$word\" ] && word={folder}/either\n"
            f"words+=(\"$word\"); done\nexec {real} \"${{words[@]}}\"\n")
        (folder / "either").write_text(
            f"#!/bin/sh\n[ $OMPI_COMM_WORLD_RANK = 0 ] && exec {RANK_PROGRAM} \"$@\"\n"
            f"LD_LIBRARY_PATH={RANK_PROGRAM.parent.parent}/lib exec {other} \"$@\"\n")
        for name in ("mpirun", "either"):
            (folder / name).chmod(0o755)
        self.environment = {"PATH": f"{folder}:{os.environ['PATH']}"}
        self.assert_fails(self.begin("--ranks", 2, "--oversubscribe"), 1, "rank 1", "another build")

    def test_a_window_that_cannot_be_made(self):
        self.environment = {"OMPI_MCA_osc": "monitoring"}
        self.assert_fails(self.begin("--ranks", 2, "--oversubscribe"), 1, "window")


class Refused(LabTest):
    def test_what_does_not_go_together(self):
        np.save(self.folder / "a.npy", np.eye(2))
        np.save(self.folder / "b.npy", np.eye(2))
        for arguments, words in (((*FILES, "--hosts", "a"), "--ranks"),
                                 (("run", "grain", "--ranks", "2"), "handoff run matmul --ranks N"),
                                 (("run", "matmul", "--ranks", "2", "--hosts", "a"), "--result"),
                                 ((*FILES, "--ranks", "2", "--set", "width=2"), "no --set")):
            with self.subTest(arguments=arguments):
                self.assert_refused(*arguments, mentions=[words])


@needs_mpi
class OnThreeHosts(RanksTest):
    def setUp(self):
        super().setUp()
        self.hosts = ThreeHosts(self.folder)
        self.addCleanup(self.hosts.remove)
        self.before = self.hosts.command()
        self.environment = {"OMPI_MCA_plm_rsh_agent": str(self.hosts.agent)}
        self.everywhere = ("--ranks", 3, "--hosts", ",".join(self.hosts.addresses))

    def test_all_are_there(self):
        self.save_random(600)
        self.multiply(*self.everywhere)

    def test_one_is_slow(self):
        self.save_random(600)
        self.hosts.slow_down(1, 0.02)
        self.multiply(*self.everywhere)

    def test_one_is_cut_off_in_the_middle(self):
        self.save_large()
        self.have_old_result()
        process = self.begin(*self.everywhere)
        self.wait_for_ranks(process, 3)
        since = time.monotonic()
        self.hosts.cut_off(2)
        self.assert_fails(process, 1, self.hosts.addresses[2], "nothing was written", since=since)

    def test_one_that_cannot_reach_the_others(self):
        self.save_random()
        self.have_old_result()
        self.hosts.cut_off(2)
        self.assert_fails(self.begin(*self.everywhere), 2, "did not find each other")


@needs_mpi
class Contenders(ScenarioTest):
    """Ranks that the lab starts and stops like all contenders, for loads of each kind they take."""

    scenario = "loads"

    def test_all_answer_rightly(self):
        """Loops that compute, with waves, and that walk memory; tasks for who divides no loops."""
        loops = ("own.rank_team", "peer.mpi_static", "peer.mpi_master_worker")
        for draw, names in ((2, loops), (49, loops), (5, ("peer.mpi4py_futures",))):
            rows = self.by_name("--contenders", ",".join(names), seed=1, draw=draw,
                                width=2)
            for name in names:
                row = rows[name]
                missing = row["status"] == "unavailable" and "is not installed" in row["reason"]
                self.assertTrue(row["status"] in ("ok", "noisy") or missing, row)

    def test_products(self):
        done = self.run_lab("run", "matmul", "--ranks", 2, "--set", "n=63", "--set", "kernel=tile",
                            "--contenders", "own.rank_team,peer.mpi_*", *ONCE, exit_code=0)
        self.assertIn("own.rank_team", done.stdout)
