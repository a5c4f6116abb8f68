# SPDX-License-Identifier: MIT
"""The scenario of started threads: every contender's threads ran, and one that cheats is found."""

import unittest

import jsonschema

from lab_support import MISBEHAVING, SCHEMA, LabTest

QUICK = ("--quick", "--no-probe", "--launches", "1", "--time-budget", "1")


class Spawn(LabTest):
    def rows(self, *arguments, exit_code=0):
        result = self.result_of("run", "spawn", *arguments, *QUICK, exit_code=exit_code)
        jsonschema.validate(result, SCHEMA)
        return {row["contender"]: row for row in result["rows"]}

    def test_each_way_starts_threads(self):
        rows = self.rows()
        self.assertEqual(set(rows), {"own.pool", "own.thread_team", "peer.std_thread",
                                     "peer.std_async", "peer.pthread", "limit.clone"})
        for row in rows.values():
            self.assertEqual((row["status"], row["metric"], row["unit"], row["parameters"]),
                             ("ok", "thread", "ns", {}), row)
            self.assertGreater(row["median"], 100, row)
            self.assertEqual(row["items_per_op"], 50, row)

    def test_a_thread_that_was_not_started_or_did_nothing_is_found(self):
        rows = self.rows("--manifest", MISBEHAVING, "--contenders", "peer.calls,peer.forgets",
                         exit_code=1)
        self.assertEqual({name: (row["status"], row["reason"]) for name, row in rows.items()},
                         {"peer.calls": ("wrong", "0 threads ran of 50"),
                          "peer.forgets": ("wrong", "10 threads ran of 50")})


if __name__ == "__main__":
    unittest.main()
