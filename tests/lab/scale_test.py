# SPDX-License-Identifier: MIT
"""`handoff scale`: the answer first, a row for each number of ranks, what feeds it, a file that the
report draws. What the model says stands in scale_model_test.cpp."""

import re

import synthetic_results as synthetic
from lab_support import LabTest


class Scale(LabTest):
    def lines(self, *arguments):
        done = self.run_lab("scale", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
        return done.stdout.splitlines()

    def table(self, *arguments):
        """A dictionary for each line below the answer."""
        answer, empty, head, *rows = self.lines(*arguments)
        self.assertTrue(answer.endswith("."), answer)
        self.assertEqual(empty, "")
        cells = [re.split(r"\s{2,}", line.strip()) for line in (head, *rows)]
        return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]

    def test_the_answer_stands_before_a_row_for_each_number_of_ranks(self):
        self.assertRegex(self.lines()[0], r"^Take 4096 ranks with \.block = \d+: [\d.]+ ms, .*; a "
                                          r"single counter for all would do as well\.$")
        self.assertEqual([int(row["ranks"]) for row in self.table()],
                         [2 ** i for i in range(1, 13)])
        self.assertEqual([row["ranks"] for row in self.table("--ranks", 100)],
                         ["2", "4", "8", "16", "32", "64", "100"])
        self.assertEqual([row["ranks"] for row in self.table("--ranks", 1)], ["1"])

    def test_it_says_what_stops_the_loop(self):
        for arguments, answer in (
                (("--row-bytes", "64k"), r"Take \d+ ranks .* \(4096: .*, as rank 0 gathers no "
                                         r"faster\)"),
                (("--rows", 2048, "--row-time", "10ms"), r"\(4096: .*, as the rows are too few\)"),
                (("--claim", "1ms", "--row-bytes", "0"), r"as the world's counter is busy\); a "
                                                         r"single counter for all stops at \d+ \("),
                (("--row-time", "0ns"), "^Stay with one machine: ")):
            with self.subTest(arguments=arguments):
                self.assertRegex(self.lines(*arguments)[0], answer)

    def test_a_seed_gives_the_same_answer_each_time(self):
        uneven = ("--ranks", 64, "--skew", 1, "--imbalance", 0.5, "--seed")
        self.assertEqual(self.lines(*uneven, 1), self.lines(*uneven, 1))
        self.assertNotEqual(self.lines(*uneven, 1), self.lines(*uneven, 2))

    def test_a_block_that_is_given_is_taken(self):
        self.assertEqual({row["block"] for row in self.table("--block", 3)}, {"3"})

    def test_rows_are_those_of_a_result_file(self):
        rows = [synthetic.row("own.rank_team", [[1.0]], wall_ns_per_op=1e9,
                              parameters={"kernel": "tile", "n": n, "width": width})
                for n in (512, 1000) for width in (2, 1)]
        self.write("r.json", {"schema": 1, "environment": synthetic.environment(), "rows": rows})
        told = self.table("r.json", "--block", 1)
        by_hand = self.table("--rows", 1000, "--row-time", "1ms", "--row-bytes", 4000, "--block", 1)
        self.assertEqual(told, by_hand)
        self.write("other.json", synthetic.result())
        self.assert_refused("scale", "other.json", mentions=["other.json", "handoff run matmul"])

    def test_the_report_draws_what_it_keeps(self):
        self.lines("--ranks", 64, "--output", "scale.json")
        self.assertEqual(len(self.result_in("scale.json")["rows"]), 12)
        self.run_lab("report", "scale.json", "-o", "page.html", exit_code=0)
        page = (self.folder / "page.html").read_text()
        self.assertIn("% predicted against ranks", page)
        self.assertRegex(page, r'(?s)<svg class="lines".*own\.rank_team\.one_counter')

    def test_what_is_wrong_is_refused(self):
        for arguments, words in (
                (("--ranks", 0), "--ranks takes 1 to 4096, not 0"),
                (("--ranks", 5000), "--ranks takes 1 to 4096, not 5000"),
                (("--threads", 0), "--threads takes 1 to 64"),
                (("--rows", 0), "--rows takes 1 to"),
                (("--latency", "2"), "--latency takes a time from 0ns to 1000s"),
                (("--bandwidth", "12GB"), "--bandwidth takes a rate from 1kB/s on"),
                (("--row-bytes", "-1"), "--row-bytes takes a size"),
                (("--skew", 2), "--skew takes 0 to 1, not 2"),
                (("--imbalance", "x"), "--imbalance takes 0 to 1, not x"),
                (("none.json",), "none.json"),
                (("--output", "no/folder"), "no/folder")):
            with self.subTest(arguments=arguments):
                self.assert_refused("scale", *arguments, mentions=[words])
