# SPDX-License-Identifier: MIT
"""Contenders that misbehave: each is a row with its reason and no time, the others are unharmed,
and no process is ever left behind."""

import os
import signal
import time
from pathlib import Path

from lab_support import MISBEHAVING, PROGRAM, SMALL, LabTest, children_of

# What the row of each says: its status, and words of its reason.
EXPECTED = {
    "peer.wrong": ("wrong", "its relative error is 1, more than"),
    "peer.almost": ("wrong", "its relative error is"),
    "peer.nothing": ("wrong", "did nothing"),
    "peer.once": ("wrong", "did nothing"),
    "limit.low": ("wrong", "multiply-adds"),
    "peer.crash": ("failed", "SIGSEGV"),
    "peer.hang": ("failed", "hung in a burst"),
    "peer.leaves": ("failed", "exit code 7 in a burst: no more ? paper"),
    "peer.refuses": ("unavailable", "it needs a moon"),
    "peer.absent": ("unavailable", "libmoon-dev"),
}
HEALTHY = ["own.thread_team", "seed.single", "seed.threads"]


def alive(process):
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


def wait_until(condition):
    """The test's time-out is the only limit."""
    while not condition():
        time.sleep(0.02)


class Misbehaving(LabTest):
    def test_each_has_its_reason_and_no_time_and_the_others_are_unharmed(self):
        result = self.result_of(
            "run", "matmul", "--set", "n=128", "--set", "kernel=ikj", "--quick", "--no-probe",
            "--time-budget", "6", "--manifest", MISBEHAVING, "--contenders",
            ",".join([*EXPECTED, *HEALTHY]), exit_code=1)
        rows = {row["contender"]: row for row in result["rows"]}
        self.assertEqual(set(rows), {*EXPECTED, *HEALTHY})
        for contender, (status, words) in EXPECTED.items():
            row = rows[contender]
            self.assertEqual(row["status"], status, row)
            self.assertIn(words, row["reason"])
            self.assertEqual((row["samples"], row["launches"]), ([], []), contender)
            for figure in ["median", "low", "high", "wall_ns_per_op", "cpu_ns_per_op"]:
                self.assertIsNone(row[figure], contender)
        for contender in HEALTHY:
            row = rows[contender]
            self.assertEqual((row["status"], row["reason"]), ("ok", ""))
            self.assertEqual(len(row["launches"]), 3)
            self.assertTrue(all(value > 0 for value in row["samples"]))

    def test_tables_show_the_reason_and_the_exit_code_is_1(self):
        done = self.run_lab(*SMALL, "--manifest", MISBEHAVING, "--contenders",
                            "seed.single,peer.nothing", exit_code=1)
        self.assertIn("peer.nothing: wrong: did nothing", done.stdout)

    def test_what_is_unavailable_breaks_nothing(self):
        result = self.result_of(*SMALL, "--manifest", MISBEHAVING, "--contenders",
                                "seed.single,peer.refuses,peer.absent")
        self.assertEqual({row["status"] for row in result["rows"]}, {"ok", "unavailable"})

    def test_all_that_a_contender_reports_is_in_its_row(self):
        result = self.result_of(*SMALL, "--manifest", MISBEHAVING, "--contenders",
                                "seed.single,limit.reports")
        rows = {row["contender"]: row for row in result["rows"]}
        row = rows["limit.reports"]
        self.assertEqual((row["items_per_op"], row["share_elsewhere"]), (8, 0.75))
        self.assertEqual(row["shares"], [0.25, 0, 0.75])
        shift = row["layouts"][0]["stack_shift"]
        self.assertEqual(row["figures"], {"told_gflops": 1, "stack_shift": shift,
                                          "p50": 50, "p90": 90, "p99": 99, "p99_9": 100})
        percentiles = dict(row["latency"]["percentiles"])
        self.assertEqual([percentiles[p] for p in [0, 1, 50, 100]], [1, 1, 50, 100])
        self.assertEqual(row["curves"]["squares"][:2], [[1, 1], [2, 4]])
        # It sleeps ten times as long as it counts, and no sleep is shorter than asked for.
        self.assertGreaterEqual(row["wall_ns_per_op"], 1e6)
        self.assertLessEqual(len(row["curves"]["squares"]), 2 * (50 // 10 + 1))
        row = rows["seed.single"]
        self.assertIsNone(row["latency"])
        self.assertEqual((row["items_per_op"], row["share_elsewhere"]), (1, None))
        self.assertEqual((row["figures"], row["curves"]), ({}, {}))

    def test_an_executable_that_is_missing_or_foreign_is_a_failed_row(self):
        for executable, words in [("gone", "No such file"), ("/bin/true", "exit code 0")]:
            (self.folder / "more.json").write_text(
                '{"contenders": [{"scenario": "matmul", "name": "peer.odd", "executable": "'
                + executable + '", "package": "", "when": {}}]}')
            result = self.result_of(*SMALL, "--manifest", "more.json", "--contenders", "peer.odd",
                                    exit_code=1)
            self.assertEqual(result["rows"][0]["status"], "failed")
            self.assertIn(words, result["rows"][0]["reason"])


class Disturbed(LabTest):
    """While other processes compute on every CPU."""

    def setUp(self):
        super().setUp()
        self.burn(os.cpu_count())

    def test_what_was_measured_is_noisy_and_says_why(self):
        result = self.result_of("run", "matmul", "--set", "n=64", "--set", "kernel=ikj",
                                "--launches", "2", "--time-budget", "1", "--contenders",
                                "seed.single,own.thread_team")
        for row in result["rows"]:
            self.assertEqual(row["status"], "noisy")
            self.assertRegex(row["reason"], r"other processes took \d\.\d\d CPUs")
            self.assertGreater(row["median"], 0)
        [block] = result["blocks"]
        self.assertEqual(block["repeats"], 2)
        self.assertEqual(block["disturbed"], result["rows"][0]["reason"])
        self.assertGreater(block["foreign_cpus"], 0.1)
        self.assertIsNone(block["kernel_cpus"])  # these contenders write no files
        self.assertGreaterEqual(result["environment"]["floor"], 0)

    def test_nobody_looks_where_the_machine_is_trusted(self):
        result = self.result_of(*SMALL, "--contenders", "seed.single")
        self.assertEqual([row["status"] for row in result["rows"]], ["ok"])
        self.assertEqual(result["blocks"], [None])
        self.assertIsNone(result["environment"]["floor"])


class NothingIsLeft(LabTest):
    """However the coordinator ends, in the middle of a burst with another contender stopped."""

    def both(self):
        coordinator = self.start(PROGRAM, *SMALL, "--time-budget", "600", "--manifest", MISBEHAVING,
                                 "--contenders", "seed.single,peer.hang", "--output", "result.json")
        contenders = []

        def both_run():
            self.assertIsNone(coordinator.poll())
            contenders[:] = children_of(coordinator.pid)
            return len(contenders) == 2

        wait_until(both_run)
        return coordinator, contenders

    def assert_nothing_is_left(self, contenders):
        wait_until(lambda: not any(map(alive, contenders)))
        for name in self.files():  # there is one if a burst was over
            self.assertEqual(name, "result.json")
            self.result_in(name)

    def test_killed(self):
        coordinator, contenders = self.both()
        coordinator.kill()
        self.assertEqual(coordinator.wait(), -signal.SIGKILL)
        self.assert_nothing_is_left(contenders)

    def test_interrupted(self):
        for number, exit_code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            coordinator, contenders = self.both()
            os.kill(coordinator.pid, number)
            self.assertEqual(coordinator.wait(), exit_code)
            self.assert_nothing_is_left(contenders)
