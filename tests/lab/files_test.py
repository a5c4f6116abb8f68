# SPDX-License-Identifier: MIT
"""The scenario of files: every way moves the right bytes to the right places, whatever is wrong is
found with its place, and nothing is left behind."""

import contextlib
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

from lab_support import DEEP, PROGRAM, ScenarioTest, settings, whole_lab

SEEDS = {"seed.single", "seed.io_thread", "seed.round_robin", "seed.thread_per_file"}
OWN = {f"own.{name}" for name in ("automatic", "caller", "io_thread", "pool",
                                  "thread_per_request", "io_uring")}
FIO = {"peer.fio_psync", "peer.fio_io_uring"}
QUEUES = {"peer.libuv", "peer.asio_file"}
SMALL = {"files": 3, "mib": 2, "block": 1024}
TRANSFERS = ("write_new", "overwrite", "read_cold", "read_warm")
# `./check --deep` looks at all cells; else each contender is looked at once in each metric, and the
# other cells of it with the library's own and one that stands for the rest.
TWO = "own.automatic,seed.single"


def stats_of_processes():
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended
            yield stat.read_text(errors="replace")


class Files(ScenarioTest):
    scenario = "files"

    def setUp(self):
        super().setUp()
        # On a device, if there is one: TMPDIR may be in memory.
        place = tempfile.TemporaryDirectory(dir=Path(PROGRAM).parent)
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        os.environ["TMPDIR"] = str(self.place)
        self.addCleanup(os.environ.pop, "TMPDIR")

    def tearDown(self):
        self.assertEqual(list(self.place.iterdir()), [])

    @contextlib.contextmanager
    def in_memory(self):
        """For trees: ext4 looks long for an inode where thousands have just been removed."""
        memory = Path("/dev/shm")
        if DEEP or not os.access(memory, os.W_OK) or shutil.disk_usage(memory).free < 1 << 30:
            yield
            return
        with tempfile.TemporaryDirectory(dir=memory) as place:
            os.environ["TMPDIR"] = place
            try:
                yield
            finally:
                os.environ["TMPDIR"] = str(self.place)
            self.assertEqual(list(Path(place).iterdir()), [])

    def measured(self, metric, contenders=None, **parameters):
        chosen = ("--contenders", contenders) if contenders else ()
        rows = self.by_name("--metrics", metric, *chosen, **parameters)
        for row in rows.values():
            if row["status"] == "unavailable":
                self.assertTrue(row["reason"], row)
            else:
                self.assertEqual(row["status"], "ok", row)
                self.assertGreater(row["median"], 0, row)
        return rows

    def assert_measured(self, rows, names):
        self.assertLessEqual(names, set(rows))
        missing = {name for name in names if rows[name]["status"] != "ok"}
        # What may be missing on this machine is said to be.
        self.assertEqual({name for name in missing if not name.startswith(("peer.", "limit."))
                          and name != "own.io_uring"}, set(), rows)

    @whole_lab
    def test_whole_files(self):
        for metric in TRANSFERS:
            durable = {"durable": 1} if "read" not in metric else {}
            rows = self.measured(metric, **SMALL, **durable)
            self.assert_measured(rows, SEEDS | OWN | FIO | QUEUES | {"limit.raw"})

    @whole_lab
    def test_their_cpu_time(self):
        rows = self.measured("write_new_cpu", "seed.single,seed.thread_per_file,peer.fio_psync",
                         **SMALL, durable=1)
        self.assertGreater(rows["seed.single"]["median"], 0.01)

    @whole_lab
    def test_files_that_are_no_whole_blocks(self):
        self.assert_measured(self.measured("write_new", files=2, mib=1, block=384, durable=1),
                             SEEDS | OWN | QUEUES)

    @whole_lab
    def test_without_a_sync(self):
        self.assert_measured(self.measured("write_new", **SMALL, durable=0), SEEDS | OWN)

    @whole_lab
    def test_small_files(self):
        everyone = SEEDS | OWN | {"peer.fstream", "peer.libuv", "limit.raw"}
        for step in ("create", "read", "remove"):
            all_of_them = DEEP or step == "create"
            rows = self.measured("small", None if all_of_them else TWO, files=100, durable=0,
                                 step=step)
            self.assert_measured(rows, everyone if all_of_them else set(TWO.split(",")))
        self.assert_measured(self.measured("file", files=100, durable=1),
                             SEEDS | OWN | {"peer.libuv"})

    @whole_lab
    def test_random_places(self):
        for metric, looked_at in (("random_read", (1, 8)), ("random_write", (0, 1))):
            for direct in (0, 1):
                for depth in (1, 8):
                    if DEEP or (direct, depth) == looked_at:
                        rows = self.measured(metric, mib=2, depth=depth, direct=direct)
                        self.assert_measured(rows, OWN | FIO | QUEUES | {"limit.raw"})
                    elif direct != looked_at[0] and depth != looked_at[1]:
                        rows = self.measured(metric, "own.automatic", mib=2, depth=depth,
                                             direct=direct)
                        self.assert_measured(rows, {"own.automatic"})

    @whole_lab
    def test_one_file_by_many(self):
        self.assert_measured(self.measured("one_file", mib=8, threads=4, block=256, durable=1),
                             SEEDS | OWN | {"limit.raw"})

    @whole_lab
    def test_logs(self):
        logs = {"own.append_log", "peer.sync_each", "peer.sqlite_wal"}
        self.assert_measured(self.measured("append", threads=8, durable=1), logs)
        one = None if DEEP else "own.append_log"
        rows = self.measured("append", one, threads=1, durable=1)
        self.assert_measured(rows, logs if DEEP else {"own.append_log"})
        rows = self.measured("append_p99", threads=1, durable=1)
        self.assertGreater(rows["peer.sync_each"]["median"], 0.5)

    @whole_lab
    def test_trees(self):
        with self.in_memory():
            rows = self.measured("copy", "own.copy,peer.cp,peer.rsync,peer.xcp", tree="small",
                             cache="warm", durable=1)
            self.assert_measured(rows, {"own.copy", "peer.cp"})
        rows = self.measured("copy", "peer.dd", tree="large", cache="warm", durable=1)
        self.assert_measured(rows, {"peer.dd"})
        everyone = "own.copy,peer.cp,peer.rsync,peer.xcp"
        rows = self.measured("copy", everyone if DEEP else "own.copy", tree="small", cache="cold",
                         durable=1)
        self.assert_measured(rows, {"own.copy"})

    def test_what_the_kernel_writes_back_is_not_other_programs(self):
        result = self.result("--metrics", "write_new", "--contenders", "seed.single",
                             how=("--launches", "1", "--time-budget", "1"), **SMALL, durable=1)
        flags = [int(stat.rsplit(")", 1)[1].split()[6]) for stat in stats_of_processes()]
        for block in result["blocks"]:
            if any(each & 0x00200000 for each in flags):
                self.assertGreaterEqual(block["kernel_cpus"], 0)
            else:  # hidden, as in a container
                self.assertIsNone(block["kernel_cpus"])

    @whole_lab
    def test_both_clocks_of_the_article(self):
        for clock in ("wall", "cpu"):
            self.assert_measured(self.measured("article", files=2, mib=1, clock=clock), SEEDS)

    def test_where_it_was_is_said(self):
        result = self.result("--metrics", "file", "--contenders", "seed.single", files=10)
        facts = result["environment"]["files"]
        self.assertTrue(facts["file_system"], facts)
        self.assertGreater(facts["free_bytes"], 0)

    def assert_spoilt(self, contender, metric, reason, **parameters):
        self.assert_found({contender: reason}, "--metrics", metric, **parameters)

    def test_one_byte_that_differs_is_found_with_its_place(self):
        reason = r"^file 1, byte 1234567: a byte differs"
        for metric in ("write_new", "overwrite"):
            self.assert_spoilt("peer.flips", metric, reason, **SMALL, durable=0)
        for metric in ("read_cold", "read_warm"):
            self.assert_spoilt("peer.flips", metric, reason, **SMALL)

    def test_what_is_old_short_or_missing_is_found(self):
        self.assert_spoilt("peer.leaves_old", "overwrite",
                           r"^file 0, byte 20480: what is there is of another time", **SMALL,
                           durable=0)
        self.assert_spoilt("peer.leaves_old", "write_new",
                           r"^file 0 has 2097151 bytes, not 2097152", **SMALL, durable=0)
        self.assert_spoilt("peer.leaves_old", "append", r"^file 0, byte 768: ", threads=1,
                           durable=1)
        with self.in_memory():
            self.assert_spoilt("peer.miscopies", "copy",
                               r"^entry \d+ has another kind, mode, time or link than its source",
                               tree="small", cache="warm", durable=0)

    def test_without_room_nothing_is_written(self):
        row, = self.rows("--metrics", "write_new", "--contenders", "seed.single", files=100000,
                         mib=65536)
        self.assertEqual(row["status"], "unavailable", row)
        self.assertRegex(row["reason"], r"^it needs \d+ MiB in .*, where \d+ MiB are free$")

    def test_nothing_is_left_after_an_interrupt_or_a_kill(self):
        for how in (signal.SIGINT, signal.SIGKILL):
            process = self.start(PROGRAM, "run", "files", "--metrics", "write_new", "--no-probe",
                                 "--contenders", "seed.single",
                                 *settings({"files": 4, "mib": 16, "durable": 1}))
            while not list(self.place.glob("*/launch.*/f*")):
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            process.send_signal(how)
            process.wait()
            if how == signal.SIGINT:
                self.assertEqual(list(self.place.iterdir()), [])
        # What a kill left, the next run takes away.
        self.measured("file", "seed.single", files=10, durable=0)
