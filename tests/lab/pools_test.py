# SPDX-License-Identifier: MIT
"""The scenarios of pools: every contender's tasks each ran once, and one that cheats is found."""

import json
import unittest

from lab_support import MISBEHAVING, LabTest

# No probe: other tests disturb the machine, and a disturbed row is a noisy one.
QUICK = ("--quick", "--launches", "1", "--time-budget", "1", "--no-probe")
MEASURED = ("ok", "noisy", "uncalibrated")


class Pools(LabTest):
    def rows(self, *arguments, exit_code=0):
        return self.result_of("run", *arguments, *QUICK, exit_code=exit_code)["rows"]

    def assert_all_right(self, rows):
        self.assertTrue(rows)
        for row in rows:
            self.assertIn(row["status"], (*MEASURED, "unavailable"), row)

    def test_tasks_each_metric(self):
        rows = self.rows("tasks", "--set", "count=1000")
        self.assert_all_right(rows)
        self.assertEqual({row["metric"] for row in rows},
                         {"fire_and_forget", "future", "ping", "run_and_wait", "idle_cpu"})

    def test_ping_is_run_by_another_thread(self):
        for row in self.rows("tasks", "--metrics", "ping", "--contenders", "own.*,limit.*"):
            self.assertEqual(row["share_elsewhere"], 1, row)

    def test_forkjoin(self):
        self.assert_all_right(self.rows("forkjoin", "--set", "problem=nqueens,tree"))

    def test_grain_keeps_its_curve(self):
        done = self.run_lab("run", "grain", "--set", "unit=index", *QUICK, "--json")
        rows = json.loads(done.stdout)["rows"]
        self.assertTrue(rows)
        for row in rows:
            if row["status"] in MEASURED:
                self.assertGreaterEqual(len(row["curves"]["efficiency"]), 20, row)
            else:  # all that a machine with others on it may bring about
                self.assertIn("less than half efficient at every size", row["reason"], row)
        self.assertEqual(done.returncode, int(any(row["status"] == "failed" for row in rows)))

    def test_a_pool_that_loses_or_repeats_a_task_is_found(self):
        rows = self.rows("tasks", "--metrics", "fire_and_forget", "--set", "count=100", "--set",
                         "state=hot", "--manifest", MISBEHAVING, "--contenders",
                         "peer.loses,peer.repeats", exit_code=1)
        reasons = {row["contender"]: (row["status"], row["reason"]) for row in rows}
        self.assertEqual(reasons["peer.loses"], ("wrong", "ran 9900 tasks of 10000"))
        self.assertEqual(reasons["peer.repeats"],
                         ("wrong", "ran some tasks twice and others not at all"))


if __name__ == "__main__":
    unittest.main()
