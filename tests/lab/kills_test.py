# SPDX-License-Identifier: MIT
"""Contenders and coordinators killed at random moments: no process is left, running or stopped, and
the result file is valid or absent. The moments come from a seed (HANDOFF_TEST_SEED)."""

import contextlib
import os
import random
import signal
import subprocess
import time
from pathlib import Path

from lab_support import CELL, MISBEHAVING, PROGRAM, SMALL, LabTest, processes_in

SEED = int(os.environ.get("HANDOFF_TEST_SEED") or random.randrange(2**32))
ROUNDS = 102  # a third for each way to end
# As long as it takes to start three contenders and to measure a short burst of each.
SHORT = (*SMALL, "--time-budget", "0.01", "--contenders", "own.thread_team,seed.[st]*", "--output",
         "result.json")


def state_of(task):
    return Path("/proc", task, "stat").read_text().rpartition(")")[2].split()[0]


class Killed(LabTest):
    def setUp(self):
        super().setUp()
        self.folder = self.folder.resolve()
        self.random = random.Random(SEED)
        print(f"seed {SEED}", flush=True)
        self.ends = {}

    def test_at_any_moment(self):
        started = time.monotonic()
        self.assertEqual(self.begin().wait(), 0)
        whole = time.monotonic() - started
        for number in range(ROUNDS):
            end = [self.kill_a_contender, self.interrupt, self.kill][number % 3]
            # Other tests come and go, and a run's length with them: the moments follow it.
            whole *= 0.9 if self.end_early(end, whole) == 0 else 1.1
        # Canary: the moments were spread over the whole run, so each way ended in more than one.
        self.assertGreater(len(self.ends[self.interrupt.__name__]), 1, self.ends)
        self.assertEqual(self.ends[self.kill.__name__] - {0}, {-signal.SIGKILL}, self.ends)
        self.assertIn(1, self.ends[self.kill_a_contender.__name__], self.ends)

    def begin(self):
        (self.folder / "result.json").unlink(missing_ok=True)
        return self.start(PROGRAM, *SHORT)

    def end_early(self, end, whole):
        coordinator = self.begin()
        time.sleep(self.random.uniform(0, whole))
        end(coordinator)
        exit_code = coordinator.wait()
        self.ends.setdefault(end.__name__, set()).add(exit_code)
        self.assertIn(exit_code, {0, 1, 130, -signal.SIGKILL, -signal.SIGINT})
        while processes_in(self.folder):  # what was killed needs a moment
            time.sleep(0.002)
        self.assert_result_is_valid_or_absent(exit_code)
        return exit_code

    def assert_result_is_valid_or_absent(self, exit_code):
        for name in self.files():
            if exit_code == -signal.SIGKILL and (name.endswith(".handoff~")
                                                 or name.startswith(".handoff.")):
                (self.folder / name).unlink()  # it died as it wrote, or tried whether it may
                continue
            self.assertEqual(name, "result.json")
            self.assertEqual(self.result_in(name)["interrupted"], exit_code == 130)
        if exit_code in (0, 1):
            self.assertEqual(self.files(), ["result.json"])

    def kill_a_contender(self, coordinator):
        contenders = [child for child in processes_in(self.folder) if child != coordinator.pid]
        if contenders:
            with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(self.random.choice(contenders), signal.SIGKILL)

    @staticmethod
    def interrupt(coordinator):
        coordinator.send_signal(signal.SIGINT)

    @staticmethod
    def kill(coordinator):
        coordinator.kill()


class InALongRun(LabTest):
    def setUp(self):
        super().setUp()
        self.folder = self.folder.resolve()

    def begin(self, contenders):
        # More than a minute for each launch: none ends before its last burst.
        return self.start(PROGRAM, *CELL, "--launches", "1000", "--time-budget", "80000",
                          "--manifest", MISBEHAVING, "--contenders", contenders, "--output",
                          "result.json", stdout=subprocess.PIPE)

    def contenders_of(self, coordinator):
        self.assertIsNone(coordinator.poll())
        return set(processes_in(self.folder)) - {coordinator.pid}

    def test_ctrl_c_keeps_what_was_measured(self):
        coordinator = self.begin("seed.single")
        launches = set()
        while len(launches) < 3:
            launches |= self.contenders_of(coordinator)
        coordinator.send_signal(signal.SIGINT)
        tables, _ = coordinator.communicate()
        self.assertEqual(coordinator.returncode, 130)
        self.assertTrue(tables.startswith("Interrupted: "), tables)
        self.assertIn("seed.single", tables)
        result = self.result_in()
        self.assertTrue(result["interrupted"])
        [row] = result["rows"]
        self.assertEqual(row["status"], "ok")
        self.assertGreaterEqual(len(row["launches"]), 2)
        self.assertEqual([len(bursts) for bursts in row["launches"][:2]], [3, 3])

    def test_all_but_one_are_stopped_with_all_their_threads(self):
        coordinator = self.begin("seed.single,own.thread_team,peer.spins")
        computed, stopped = set(), 0
        while len(computed) < 9:  # three launches of three contenders
            contenders = self.contenders_of(coordinator)
            # A burst may begin or end while we look, but nobody has two within three looks.
            looks = [{c for c in contenders if computes(c)} for _ in range(3)]
            always = set.intersection(*looks)
            self.assertLessEqual(len(always), 1)
            computed |= always
            stopped += len(contenders) - len(set.union(*looks))
        self.assertGreater(stopped, 0)
        coordinator.send_signal(signal.SIGINT)
        coordinator.communicate()


def computes(process):
    """Whether any of its threads is neither stopped nor at its end."""
    try:
        return any(state_of(f"{process}/task/{task}") not in "TZX"
                   for task in os.listdir(f"/proc/{process}/task"))
    except OSError:
        return False
