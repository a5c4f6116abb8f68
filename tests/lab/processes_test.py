# SPDX-License-Identifier: MIT
"""The scenario of processes: every contender delivers each message once to its second process, one
that cheats is found, and none leaves anything behind."""

import tempfile
import time
import unittest
from pathlib import Path

from lab_support import MISBEHAVING, PROGRAM, whole_lab
from left_behind import LeavesNothingTest, assert_nothing_left

ALL = {"own.shared_ring", "own.shared_byte_ring", "limit.spin_ring", "peer.pipe",
       "peer.unix_socket", "peer.boost_message_queue", "peer.zeromq_ipc", "peer.nng_ipc",
       "peer.boost_spsc", "peer.openmpi"}
MAY_BE_MISSING = {"peer.boost_message_queue", "peer.boost_spsc", "peer.zeromq_ipc",
                  "peer.nng_ipc", "peer.openmpi"}
NEVER_SLEEP = {"limit.spin_ring", "peer.boost_spsc", "peer.openmpi"}
OPENMPI = Path(PROGRAM).parent / "libexec" / "handoff" / "processes" / "peer.openmpi"


class Processes(LeavesNothingTest):
    scenario = "processes"

    def assert_all_right(self, rows, names, unit, items):
        self.assertEqual(set(rows), names)
        for name, row in rows.items():
            if row["status"] == "unavailable":
                self.assertIn(name, MAY_BE_MISSING)
                self.assertRegex(row["reason"], "^not built: needs lib")
                continue
            self.assertEqual((row["status"], row["unit"], row["order"]), ("ok", unit, "fifo"), row)
            self.assertGreater(row["median"], 0.01, row)
            self.assertEqual(row["items_per_op"], items, row)

    @whole_lab
    def test_one_message_at_a_time(self):
        for size in (8, 4096):
            rows = self.by_name("--metrics", "latency", bytes=size)
            self.assert_all_right(rows, ALL, "ns", 2000)

    @whole_lab
    def test_many_messages(self):
        for size, messages in ((8, 100000), (64, 100000), (4096, 10000), (1 << 20, 50)):
            rows = self.by_name("--metrics", "throughput", bytes=size)
            self.assert_all_right(rows, ALL, "messages/s", messages)

    @whole_lab
    def test_a_process_that_sleeps_is_woken(self):
        rows = self.by_name("--metrics", "wake")
        self.assert_all_right(rows, ALL - NEVER_SLEEP, "us", 20)

    def test_a_message_that_is_lost_repeated_or_broken_is_found(self):
        for metric in ("latency", "throughput"):
            damaged = "messages were damaged, or not those"
            self.assert_found({"peer.drops_one": damaged, "peer.bends": damaged}, "--metrics",
                              metric, bytes=64)
            [row] = self.rows("--metrics", metric, "--manifest", MISBEHAVING, "--contenders",
                              "peer.dies", exit_code=1, bytes=64)
            self.assertEqual(row["status"], "failed", row)
            self.assertIn("second process: it dies here", row["reason"])

    def test_ctrl_c_leaves_nothing_behind(self):
        self.assert_ctrl_c_leaves_nothing("throughput")

    @unittest.skipUnless(OPENMPI.exists(), "Open MPI is not installed")
    def test_open_mpi_s_launcher_ends_with_a_lab_that_is_killed(self):
        sessions = set(Path(tempfile.gettempdir()).glob("ompi.*"))
        for seconds in (0, 0.01, 0.03, 0.06, 0.1, 0.2, 0.5):  # from its start on
            run = self.start_a_long_run("throughput", "--contenders", "peer.openmpi")
            time.sleep(seconds)
            run.kill()
            run.wait()
            assert_nothing_left(self)
        self.assertEqual(set(Path(tempfile.gettempdir()).glob("ompi.*")), sessions)
