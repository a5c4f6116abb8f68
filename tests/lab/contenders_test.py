# SPDX-License-Identifier: MIT
"""Contenders that misbehave: each is a row with its reason and no time, the others are unharmed,
and no process is ever left behind."""

import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

from lab_support import MISBEHAVING, PROGRAM, SMALL, LabTest

# What the row of each says: its status, and words of its reason.
EXPECTED = {
    "peer.wrong": ("wrong", "its relative error is 1, allowed"),
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


def processes_of(coordinator):
    """The children of a process."""
    children = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended since
            continue
        if int(fields[1]) == coordinator:
            children.append(int(name))
    return children


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
            "run", "matmul", "--set", "n=128", "--set", "kernel=ikj", "--quick", "--time-budget",
            "6", "--manifest", MISBEHAVING, "--contenders", ",".join([*EXPECTED, *HEALTHY]),
            exit_code=1)
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
                            "seed.single,peer.nothing")
        self.assertEqual(done.returncode, 1)
        self.assertIn("peer.nothing: wrong: did nothing", done.stdout)

    def test_what_is_unavailable_breaks_nothing(self):
        result = self.result_of(*SMALL, "--manifest", MISBEHAVING, "--contenders",
                                "seed.single,peer.refuses,peer.absent")
        self.assertEqual({row["status"] for row in result["rows"]}, {"ok", "unavailable"})

    def test_an_executable_that_is_missing_or_foreign_is_a_failed_row(self):
        for executable, words in [("gone", "No such file"), ("/bin/true", "exit code 0")]:
            (self.folder / "more.json").write_text(
                '{"contenders": [{"scenario": "matmul", "name": "peer.odd", "executable": "'
                + executable + '", "package": "", "when": {}}]}')
            result = self.result_of(*SMALL, "--manifest", "more.json", "--contenders", "peer.odd",
                                    exit_code=1)
            self.assertEqual(result["rows"][0]["status"], "failed")
            self.assertIn(words, result["rows"][0]["reason"])


class NothingIsLeft(LabTest):
    """However the coordinator ends, in the middle of a burst with another contender stopped."""

    def start(self):
        coordinator = subprocess.Popen(
            [PROGRAM, *SMALL, "--time-budget", "600", "--manifest", MISBEHAVING, "--contenders",
             "seed.single,peer.hang", "--output", "result.json"],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        contenders = []

        def both_run():
            self.assertIsNone(coordinator.poll())
            contenders[:] = processes_of(coordinator.pid)
            return len(contenders) == 2

        wait_until(both_run)
        return coordinator, contenders

    def assert_nothing_is_left(self, contenders):
        wait_until(lambda: not any(map(alive, contenders)))
        self.assertEqual(self.files(), [])

    def test_killed(self):
        coordinator, contenders = self.start()
        coordinator.kill()
        self.assertEqual(coordinator.wait(), -signal.SIGKILL)
        self.assert_nothing_is_left(contenders)

    def test_interrupted(self):
        for number, exit_code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            coordinator, contenders = self.start()
            os.kill(coordinator.pid, number)
            self.assertEqual(coordinator.wait(), exit_code)
            self.assert_nothing_is_left(contenders)


if __name__ == "__main__":
    unittest.main()
