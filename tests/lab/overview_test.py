# SPDX-License-Identifier: MIT
"""The overview: which ways of a rung are chosen, how often what is launched, and that it ends well.
Tests run beside each other, so nothing here depends on what wins, nor on a time."""

import json
import signal
import subprocess
import sys
import unittest

import jsonschema

from lab_support import MISBEHAVING, NO_TIME, PROGRAM, SCHEMA, LabTest

CHOOSING = 3  # launches of each way of a rung
FIXED = ("run", "--quick", "--no-probe", "--launches", "2", *NO_TIME)
SEVERAL_KINDS = ("--contenders", "own.event*,own.pool.*,limit.*,peer.onetbb,peer.openmp,"
                 "seed.pool.fixed,seed.eventpp*")


def rows_of(result, rung):
    """The rows of a rung, by contender."""
    return {row["contender"]: row for row in result["rows"]
            if all(row[key] == rung[key] for key in ("scenario", "metric", "parameters"))}


def name_of(way):
    return way and way["contender"]


def chosen_of(rung):
    ways = [rung[kind] for kind in ("own", "peer", "today", "limit")]
    return {name_of(way) for way in [*ways, *rung["named"]] if way}


class Overviews(LabTest):
    measured = {}

    def of_several_kinds(self):
        """What more than one test looks at is measured once."""
        if not self.measured:
            self.measured.update(self.overview(*SEVERAL_KINDS))
        return self.measured

    def overview(self, *arguments):
        done = self.run_lab(*FIXED, *arguments, "--json")
        # 1: beside other tests a pool may be efficient at no size of tasks; one misbehaves.
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(done.stderr, "")
        result = json.loads(done.stdout)
        jsonschema.validate(result, SCHEMA)
        return result

    def test_what_stands_on_a_rung_is_launched_again_and_nothing_else(self):
        result = self.of_several_kinds()
        names = [rung["name"] for rung in result["rungs"]]
        self.assertLessEqual({"call", "task", "future", "fork", "ping"}, set(names))
        for rung in result["rungs"]:
            rows = rows_of(result, rung)
            chosen = chosen_of(rung)
            self.assertGreater(len(chosen), 0, rung)
            self.assertEqual(rung["chosen_on"], CHOOSING)
            for name, row in rows.items():
                launches = CHOOSING + 2 if name in chosen else CHOOSING
                if row["status"] == "ok":
                    self.assertEqual(len(row["launches"]), launches, (rung["name"], name))
            # The rows of a rung are one block, so that what met all of them falls out.
            self.assertEqual(len({row["block"] for row in rows.values()}), 1)

    def test_each_kind_stands_in_its_place_and_the_best_of_the_first_launches_was_chosen(self):
        result = self.of_several_kinds()
        for rung in result["rungs"]:
            rows = rows_of(result, rung)
            for kind in ("own", "peer", "limit"):
                name = name_of(rung[kind])
                if not name:
                    self.assertFalse([n for n, row in rows.items()
                                      if row["kind"] == kind and row["status"] == "ok"], rung)
                    continue
                self.assertEqual(rows[name]["kind"], kind)
                first = {n: first_median(row) for n, row in rows.items()
                         if row["kind"] == kind and row["status"] == "ok"}
                self.assertEqual(first[name], min(first.values()), (rung["name"], first))

    def test_who_answers_wrongly_stands_on_no_rung(self):
        result = self.overview("--manifest", MISBEHAVING, "--contenders",
                               "own.pool.stealing,peer.loses,peer.skips")
        rungs = {rung["name"]: rung for rung in result["rungs"]}
        self.assertEqual(name_of(rungs["task"]["own"]), "own.pool.stealing")
        self.assertFalse(rungs["task"]["peer"])
        self.assertEqual(rows_of(result, rungs["task"])["peer.loses"]["status"], "wrong")
        self.assertFalse(rungs["iteration"]["peer"])
        self.assertNotIn("call", rungs)  # nobody of these calls a listener

    def test_what_is_not_on_the_ladder_is_not_measured(self):
        result = self.overview("--contenders", "own.*")
        metrics = {(row["scenario"], row["metric"]) for row in result["rows"]}
        self.assertIn(("events", "enqueue_process"), metrics)
        self.assertIn(("grain", "metg50"), metrics)  # beside the rungs
        for left_out in (("events", "second_queue"), ("matmul", "gflops")):
            self.assertNotIn(left_out, metrics)
        of_the_bus = {row["contender"] for row in result["rows"] if row["scenario"] == "messages"}
        self.assertEqual(of_the_bus, {"own.bus", "own.bus.lanes"})  # rings are no buses
        bus = next(rung for rung in result["rungs"] if rung["name"] == "bus")
        self.assertIn(name_of(bus["own"]), of_the_bus)
        self.assertEqual({name_of(way) for way in bus["named"]}, of_the_bus)

    def test_contenders_of_no_rung_are_refused(self):
        self.assert_refused("run", "--quick", "--contenders", "own.subprocess",
                            mentions=["overview's cells"])
        self.assert_refused("run", "--quick", "--contenders", "own.nobody",
                            mentions=["own.nobody"])

    def test_ctrl_c_keeps_the_rows_and_the_rungs_until_then(self):
        coordinator = subprocess.Popen(
            [PROGRAM, "run", "--quick", "--no-probe", "--launches", "1000", "--time-budget", "600",
             "--contenders", "own.event,limit.vector", "--output", "result.json"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(coordinator.kill)
        launches = set()
        while len(launches) < 20:  # both rungs have chosen after 18
            self.assertIsNone(coordinator.poll())
            launches |= children_of(coordinator.pid)
        coordinator.send_signal(signal.SIGINT)
        coordinator.communicate()
        self.assertEqual(coordinator.returncode, 130)
        result = json.loads((self.folder / "result.json").read_text())
        jsonschema.validate(result, SCHEMA)
        self.assertTrue(result["interrupted"])
        self.assertEqual([rung["name"] for rung in result["rungs"]], ["call", "event"])
        for rung in result["rungs"]:
            self.assertEqual(name_of(rung["own"]), "own.event")
            for row in rows_of(result, rung).values():
                self.assertGreaterEqual(len(row["launches"]), CHOOSING)


class Busy(LabTest):
    """Beside a program that does nothing but to take a CPU, and says what its name is."""

    def setUp(self):
        super().setUp()
        hog = subprocess.Popen(
            [sys.executable, "-c",
             "import os\nopen('/proc/self/comm', 'w').write('handoff-hog')\n"
             "print(flush=True)\nwhile os.getppid() != 1: pass"],
            stdout=subprocess.PIPE)
        self.addCleanup(hog.wait)
        self.addCleanup(hog.stdout.close)
        self.addCleanup(hog.kill)
        hog.stdout.readline()

    def test_the_first_line_says_so_and_no_file_has_a_name(self):
        done = self.run_lab("run", "--quick", "--launches", "1", "--time-budget", "0.1",
                            "--contenders", "own.event,limit.vector", "--output", "result.json",
                            "--page", "page.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.splitlines()[0],
                         r"^Busy machine: other programs took \d+\.\d of \d+ CPUs: .*\d\.\d")
        for name in ("result.json", "page.html"):
            self.assertNotIn("handoff-hog", (self.folder / name).read_text())

    def test_it_waits_for_a_quiet_moment_only_so_long(self):
        done = self.run_lab("run", "events", "--metrics", "invoke", "--set", "listeners=1",
                            "--contenders", "own.event", "--quick", "--launches", "1", "--no-probe",
                            "--time-budget", "0.1", "--wait-quiet", "0.1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1],
                         r"^still busy after 0.1 s: others take \d+\.\d CPUs$")
        for wrong in ("-1", "nan", "1e9"):
            self.assert_refused("run", "--quick", "--wait-quiet", wrong, mentions=["--wait-quiet"])


def first_median(row):
    return median(median(bursts) for bursts in row["launches"][:CHOOSING])


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def children_of(process):
    try:
        with open(f"/proc/{process}/task/{process}/children") as children:
            return set(children.read().split())
    except OSError:
        return set()


if __name__ == "__main__":
    unittest.main()
