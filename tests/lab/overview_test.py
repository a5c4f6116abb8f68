# SPDX-License-Identifier: MIT
"""The overview: which ways stand on a rung, how often what is launched, what is said of it, and
that it ends well. Tests run beside each other, so nothing here depends on what wins, nor on a
time."""

import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import termios

from lab_support import MISBEHAVING, NO_TIME, PROGRAM, LabTest, children_of, valid
from terminal import seen_at_a_terminal

FIXED = ("run", "--quick", "--no-probe", "--launches", "2", *NO_TIME)


def rows_of(result, rung):
    """The rows of a rung, by contender."""
    return {row["contender"]: row for row in result["rows"]
            if all(row[key] == rung[key] for key in ("scenario", "metric", "parameters"))}


def name_of(way):
    return way and way["contender"]


def ways_of(rung):
    ways = [rung[kind] for kind in ("own", "peer", "today", "limit")]
    return {name_of(way) for way in [*ways, *rung["named"]] if way}


class Overviews(LabTest):
    measured = {}

    def whole(self):
        """What more than one test looks at is measured once."""
        if not self.measured:
            self.measured.update(self.overview())
        return self.measured

    def overview(self, *arguments):
        done = self.run_lab(*FIXED, *arguments, "--json")
        # 1: beside other tests a pool may be efficient at no size of tasks; one misbehaves.
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(done.stderr, "")
        return valid(json.loads(done.stdout))

    def test_a_rung_has_four_ways_at_most_and_all_its_launches_count(self):
        result = self.whole()
        names = [rung["name"] for rung in result["rungs"]]
        self.assertGreaterEqual(len(names), 15)
        self.assertLess(names.index("call"), names.index("file"), "the cheapest first")
        for rung in result["rungs"]:
            rows = rows_of(result, rung)
            self.assertEqual(set(rows), ways_of(rung), rung["name"])
            self.assertLessEqual(len(rows), 4)
            self.assertTrue(name_of(rung["own"]).startswith("own."))
            self.assertTrue(1 <= len(rung["peers"]) <= 2, rung)
            for row in rows.values():
                if row["status"] == "ok":
                    self.assertEqual(len(row["launches"]), 2, (rung["name"], row["contender"]))
            # The rows of a rung are one block, so that what met all of them falls out.
            self.assertEqual(len({row["block"] for row in rows.values()}), 1)

    def test_each_rung_has_a_word_or_says_that_nothing_is_known(self):
        result = self.whole()
        self.assertLessEqual({rung["verdict"] for rung in result["rungs"]},
                             {"faster", "slower", "about equal", "not known"})
        for rung in result["rungs"]:
            if rung["ratio"] is not None and rung["low"] is not None:
                self.assertLessEqual(rung["low"], rung["ratio"])

    def test_who_answers_wrongly_stands_on_no_rung(self):
        lying = json.loads(open(MISBEHAVING, encoding="utf-8").read())
        [liar] = [one for one in lying["contenders"] if one["name"] == "peer.loses"]
        folder = os.path.dirname(MISBEHAVING)
        executables = liar["executable"]
        liar["name"] = "peer.taskflow"  # which stands before the others where it is installed
        liar["executable"] = [os.path.join(folder, one) for one in
                              (executables if isinstance(executables, list) else [executables])]
        self.write("liar.json", {"contenders": [liar]})
        result = self.overview("--manifest", "liar.json", "--contenders",
                               "own.pool.stealing,peer.taskflow")
        rungs = {rung["name"]: rung for rung in result["rungs"]}
        self.assertEqual(name_of(rungs["task"]["own"]), "own.pool.stealing")
        self.assertFalse(rungs["task"]["peer"])
        self.assertEqual(rows_of(result, rungs["task"])["peer.taskflow"]["status"], "wrong")
        self.assertNotIn("call", rungs)  # nobody of these calls a listener

    def test_what_is_not_on_the_ladder_is_not_measured(self):
        result = self.whole()
        metrics = {(row["scenario"], row["metric"]) for row in result["rows"]}
        self.assertIn(("grain", "metg50"), metrics)  # beside the rungs
        for left_out in (("events", "second_queue"), ("matmul", "gflops")):
            self.assertNotIn(left_out, metrics)

    def test_contenders_of_no_rung_are_refused(self):
        self.assert_refused("run", "--quick", "--contenders", "own.subprocess",
                            mentions=["no rung"])
        self.assert_refused("run", "--quick", "--contenders", "own.nobody",
                            mentions=["own.nobody"])

    def test_ctrl_c_keeps_the_rows_and_the_rungs_until_then(self):
        coordinator = self.start(
            PROGRAM, "run", "--quick", "--no-probe", "--launches", "1000", "--time-budget", "600",
            "--contenders", "own.event,limit.vector", "--output", "result.json")
        launches = set()
        while len(launches) < 10:
            self.assertIsNone(coordinator.poll())
            launches |= set(children_of(coordinator.pid))
        coordinator.send_signal(signal.SIGINT)
        coordinator.communicate()
        self.assertEqual(coordinator.returncode, 130)
        result = self.result_in()
        self.assertTrue(result["interrupted"])
        [rung] = result["rungs"]
        self.assertEqual(name_of(rung["own"]), "own.event")
        for row in rows_of(result, rung).values():
            self.assertGreaterEqual(len(row["launches"]), 2)


class OnATerminal(LabTest):
    def test_the_ladder_stands_there_from_the_start_and_fills(self):
        """Each rung has its line before anything is measured, and its figures after."""
        person, terminal = os.openpty()
        set_size(terminal, rows=40, columns=80)
        coordinator = self.start(
            PROGRAM, "run", "--quick", "--no-probe", "--launches", "1", *NO_TIME, "--contenders",
            "own.event,own.pool.stealing", stderr=terminal, env={**os.environ, "TERM": "xterm"})
        seen = seen_at_a_terminal(coordinator, person, terminal)
        waiting, filled = seen.find("task ..."), seen.find("ALONE    task")
        self.assertGreaterEqual(waiting, 0, seen)
        self.assertGreater(filled, waiting, seen)
        self.assertLess(seen.find("call ..."), filled, "all lines stand there from the start")


class Busy(LabTest):
    """Beside a program that does nothing but to take a CPU, and says what its name is."""

    def setUp(self):
        super().setUp()
        hog = self.start(
            sys.executable, "-c",
            "import os\nopen('/proc/self/comm', 'w').write('handoff-hog')\n"
            "print(flush=True)\nwhile os.getppid() != 1: pass", stdout=subprocess.PIPE)
        self.addCleanup(hog.stdout.close)
        hog.stdout.readline()

    def test_it_is_said_before_the_rungs_and_no_file_has_a_name(self):
        done = self.run_lab("run", "--quick", "--launches", "1", "--time-budget", "0.1",
                            "--contenders", "own.event,limit.vector", "--output", "result.json",
                            "--page", "page.html", exit_code=0)
        self.assertRegex(done.stdout, r"(?m)^Busy machine: other programs took \d+\.\d of \d+ "
                         r"CPUs: .*\d\.\d")
        self.assertLess(done.stdout.find("Busy machine"), done.stdout.find("call"))
        for name in ("result.json", "page.html"):
            self.assertNotIn("handoff-hog", (self.folder / name).read_text())

    def test_it_waits_for_a_quiet_moment_only_so_long(self):
        done = self.run_lab("run", "events", "--metrics", "invoke", "--set", "listeners=1",
                            "--contenders", "own.event", "--quick", "--launches", "1", "--no-probe",
                            "--time-budget", "0.1", "--wait-quiet", "0.1", exit_code=0)
        self.assertRegex(done.stderr.splitlines()[-1],
                         r"^still busy after 0.1 s: other programs take \d+\.\d CPUs$")
        for wrong in ("-1", "nan", "1e9"):
            self.assert_refused("run", "--quick", "--wait-quiet", wrong, mentions=["--wait-quiet"])


def set_size(terminal, rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
