# SPDX-License-Identifier: MIT
"""Products by processes, and `--kill`: the answer is right whichever worker is killed, the row
says how many were and what that cost, and nothing is left of any of them."""

import json

import numpy as np

from lab_support import CELL, ONCE, SMALL, LabTest, processes_in, valid

BOTH = "own.process_team,seed.processes"


class ByProcesses(LabTest):
    def rows(self, *arguments):
        rows = self.result_of(*arguments)["rows"]
        for row in rows:
            self.assertEqual((row["status"], row["reason"]), ("ok", ""), row)
        return rows

    def test_every_kernel_and_more_workers_than_rows(self):
        for n, width in ((64, 2), (7, 16)):
            rows = self.rows("run", "matmul", "--set", f"n={n}", "--set", f"width={width}", "--set",
                             "kernel=naive,naive_restrict,ikj,tile", *ONCE, "--contenders", BOTH)
            self.assertEqual(len(rows), 8)
            for row in rows:
                self.assertNotIn("kill", row["parameters"])
                figures = {"claim_ns"} if row["contender"] == "own.process_team" else set()
                self.assertEqual(set(row["figures"]), figures, row)

    def test_real_matrices(self):
        a = np.arange(35, dtype=np.float64).reshape(5, 7)
        b = np.arange(21, dtype=np.float32).reshape(7, 3)
        np.save(self.folder / "a.npy", a)
        np.save(self.folder / "b.npy", b)
        for contender in BOTH.split(","):
            done = self.run_lab("run", "matmul", "--a", "a.npy", "--b", "b.npy", "--result",
                                "c.npy", "--contenders", contender, "--set", "width=3", exit_code=0)
            self.assertTrue(np.array_equal(np.load(self.folder / "c.npy"), a @ b))


class Kill(LabTest):
    def test_workers_are_killed_and_the_answer_is_right(self):
        done = self.run_lab(*SMALL, "--kill", "300", "--json", "--page", "page.html", exit_code=0)
        self.assertRegex(done.stderr, r"--kill: \d+ contenders are left out")
        [row] = valid(json.loads(done.stdout))["rows"]
        self.assertEqual(row["contender"], "own.process_team")
        self.assertEqual(row["parameters"], {"n": 64, "kernel": "ikj", "width": 2, "kill": 300})
        self.assertEqual(row["status"], "ok", row)
        self.assertEqual(row["items_per_op"], 4)
        # A burst is 50 ms of products with kills and more.
        self.assertGreater(row["figures"]["killed"], 0)
        self.assertGreater(row["figures"]["times_as_long"], 0)
        self.assertIn("ms_a_kill", row["figures"])
        page = (self.folder / "page.html").read_text()
        for name in ("killed", "times_as_long", "ms_a_kill"):
            self.assertIn(name, page)
        self.assertEqual(processes_in(self.folder), [])

    def test_the_table_says_what_it_cost(self):
        done = self.run_lab(*SMALL, "--kill", "300", "--contenders", "own.process_team",
                            exit_code=0)
        self.assertRegex(done.stdout, r"killed +times as long")
        self.assertNotIn("left out", done.stderr)

    def test_eight_workers_that_are_killed_all_the_time(self):
        result = self.result_of(*CELL, "--launches", "2", "--set", "width=8", "--kill", "1000")
        self.assertEqual([row["status"] for row in result["rows"]], ["ok"], result["rows"])

    def test_what_cannot_be_killed_is_refused(self):
        for arguments, mentions in (
                (("run", "matmul", "--kill", "0"), ["'kill'", "1 to 1000", "'0'"]),
                (("run", "matmul", "--kill", "1001"), ["1 to 1000"]),
                (("run", "matmul", "--kill", "many"), ["1 to 1000", "'many'"]),
                (("run", "matmul", "--kill", "5", "--contenders", "seed.*,own.thread_team"),
                 ["--kill", "own.process_team goes on"]),
                (("run", "--kill", "5"), ["handoff run matmul --kill RATE"]),
                (("run", "spawn", "--kill", "5"), ["handoff run matmul --kill RATE"]),
                (("run", "matmul", "--kill", "5", "--a", "a.npy"), ["--kill"])):
            with self.subTest(arguments=arguments):
                self.assert_refused(*arguments, mentions=mentions)

    def test_without_it_nobody_is_killed_and_list_says_who_could_be(self):
        done = self.run_lab("list")
        self.assertRegex(done.stdout, r"own\.process_team +available +kill=any")
        self.assertRegex(done.stdout, r"kill .*\n.*default none; allowed 1 to 1000")
