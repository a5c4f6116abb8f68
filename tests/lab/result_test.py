# SPDX-License-Identifier: MIT
"""The result file of a real measurement against its schema, and what is made of it."""

import json
import statistics
import subprocess
import tempfile
from pathlib import Path

import jsonschema

import synthetic_results as synthetic
from hostile_test import changed
from lab_support import MISBEHAVING, PROGRAM, LabTest, valid

ARGUMENTS = ("run", "matmul", "--set", "n=64", "--set", "kernel=ikj,tile", "--quick",
             "--launches", "2", "--seed", "5", "--no-probe", "--output",
             "results.json", "--page", "page.html", "--manifest", MISBEHAVING, "--contenders",
             "own.*,seed.*,peer.eigen,limit.fma,peer.nothing,peer.absent")


class ResultFile(LabTest):
    @classmethod
    def setUpClass(cls):
        """One measurement for all tests, which only read it."""
        kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(kept.cleanup)
        done = subprocess.run([PROGRAM, *ARGUMENTS], cwd=kept.name, text=True, capture_output=True)
        assert done.returncode == 1, done.stderr
        cls.tables = done.stdout
        cls.result = json.loads((Path(kept.name) / "results.json").read_text())
        cls.page = (Path(kept.name) / "page.html").read_text()

    def test_it_follows_the_schema(self):
        valid(self.result)
        statuses = {row["status"] for row in self.result["rows"]}
        self.assertEqual(statuses, {"ok", "wrong", "unavailable"})

    def test_the_schema_refuses_what_it_should(self):
        wrong = [row["status"] for row in self.result["rows"]].index("wrong")
        for path, value in [(("schema",), 2), (("rows", 0, "status"), "fine"),
                            (("rows", 0, "kind"), "other"), (("rows", 0, "median"), "fast"),
                            (("rows", 0, "better"), "bigger"), (("rows", 0, "samples"), 3),
                            (("rows", wrong, "samples"), [1.0])]:
            with self.subTest(path), self.assertRaises(jsonschema.ValidationError):
                valid(changed(self.result, path, "value", value))

    def test_the_schema_knows_rungs(self):
        overview = synthetic.overview()
        valid(overview)
        for key, value in [("verdict", "won"), ("own", {"contender": "own.pool"}),
                           ("peers", "peer.onetbb"), ("unit", "us"), ("named", None),
                           ("ratio", "x")]:
            with self.subTest(key), self.assertRaises(jsonschema.ValidationError):
                valid(changed(overview, ("rungs", 0, key), "value", value))
        self.assertEqual(self.result["rungs"], [])

    def test_its_figures_fit_together(self):
        for row in self.result["rows"]:
            if row["status"] != "ok":
                continue
            self.assertEqual(len(row["launches"]), 2)
            self.assertEqual([v for bursts in row["launches"] for v in bursts], row["samples"])
            medians = [statistics.median(bursts) for bursts in row["launches"]]
            self.assertAlmostEqual(statistics.median(medians), row["median"], places=9)
            self.assertLessEqual(row["low"], row["median"])
            self.assertLessEqual(row["median"], row["high"])
            self.assertGreater(row["wall_ns_per_op"], 0)
            self.assertGreater(row["cpu_ns_per_op"], 0)
            self.assertGreater(row["phases"]["start_ns"], 0)
            self.assertGreater(row["phases"]["stop_ns"], 0)
            self.assertGreater(row["peak_memory_bytes"], 1 << 16)
            self.assertGreaterEqual(row["per_item"]["involuntary_switches"], 0)
            if (on_cpu := row["per_item"]["submitter_on_cpu_ns"]) is not None:
                self.assertGreater(on_cpu, 0)
                for other in ("submitter_ready_ns", "submitter_off_cpu_ns"):
                    self.assertGreaterEqual(row["per_item"][other], 0)
            for counter, reason in self.result["environment"]["counters"].items():
                self.assertEqual(row["per_item"][counter] is None, reason is not None, counter)
        environment = self.result["environment"]
        self.assertEqual(environment["seed"], 5)
        self.assertIn("--seed", environment["command_line"])
        self.assertGreaterEqual(environment["budget"]["width"], 1)
        self.assertEqual(environment["contender_variables"].keys()
                         - {"OPENBLAS_CORETYPE", "HANDOFF_TILE"}, set())

    def test_the_tables_show_every_row(self):
        for row in self.result["rows"]:
            self.assertIn(row["contender"], self.tables)

    def test_the_tables_show_peak_memory_and_context_switches(self):
        header = next(line for line in self.tables.splitlines() if "contender " in line)
        self.assertTrue(header.endswith("CPU each  switches each  peak memory"), header)
        shown = next(line for line in self.tables.splitlines() if "seed.single " in line)
        row = next(row for row in self.result["rows"] if row["contender"] == "seed.single")
        self.assertIn(f'{row["peak_memory_bytes"] / (1 << 20):.3g} MiB', shown)

    def test_the_page_is_the_one_that_a_report_makes(self):
        self.write("results.json", self.result)
        self.assertEqual(self.run_lab("report", "results.json").stdout, self.page)
        for row in self.result["rows"]:
            self.assertIn(row["contender"], self.page)
        self.assertIn("did nothing: the answer was left untouched", self.page)
