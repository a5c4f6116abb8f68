# SPDX-License-Identifier: MIT
"""The scenario of commands: every scheme comes to the same hash of all arguments, in the order of
keys, on any number of threads and with keys of any width."""

import base64
import re

from lab_support import MISBEHAVING, ONCE, ScenarioTest, whole_lab

TOGETHER = {f"seed.v{version}" for version in range(3, 8)}
ALONE = {"seed.v1", "seed.v2"}


class Commands(ScenarioTest):
    scenario = "commands"

    def measured(self, metric, **parameters):
        parameters = {"threads": 2, "calls": 4000, "key_bits": 64, "work": 0, **parameters}
        rows = self.by_name("--metrics", metric, **parameters)
        for row in rows.values():
            self.assertEqual(row["parameters"], parameters, row)
            if row["status"] == "unavailable":
                self.assertTrue(row["contender"].startswith("peer."), row)
            else:
                self.assertEqual(row["status"], "ok", row)
                self.assertGreater(row["median"], 0, row)
        return rows

    @whole_lab
    def test_one_thread_adds(self):
        self.assertEqual(set(self.measured("add", threads=1)),
                         {"own.bucket", "limit.store", "peer.std_vectors"} | ALONE | TOGETHER)

    @whole_lab
    def test_several_threads_add(self):
        for bits in (16, 32, 64):
            self.assertEqual(set(self.measured("add", key_bits=bits)),
                             {"own.bucket", "peer.std_vectors"} | TOGETHER)

    @whole_lab
    def test_with_other_work(self):
        self.assertEqual(set(self.measured("add", work=100)),
                         {"own.bucket", "peer.std_vectors"} | TOGETHER)

    @whole_lab
    def test_keys_are_sorted(self):
        for keys in ("article", "random"):
            self.assertEqual(set(self.measured("sort", keys=keys)),
                             {"own.bucket", "limit.radix", "peer.std_stable_sort",
                              "peer.onetbb_sort", "peer.std_vectors"} | TOGETHER)

    @whole_lab
    def test_commands_are_dispatched(self):
        for metric in ("submit", "frame", "command"):
            self.assertEqual(set(self.measured(metric)),
                             {"own.bucket", "own.bucket.parallel_submit", "peer.std_vectors"} |
                             TOGETHER)

    @whole_lab
    def test_threads_share_less_than_the_article_s(self):
        rows = self.measured("shared_rmw", calls=40000)
        self.assertLess(rows["own.bucket"]["median"], 1 / 64)
        self.assertAlmostEqual(rows["seed.v4"]["median"], 1.75, delta=0.05)
        self.assertGreater(rows["seed.v7"]["median"], 1 / 64)

    def test_the_page_shows_a_frame_where_one_can_be_drawn(self):
        done = self.run_lab("run", "commands", "--metrics", "add", "--set", "threads=1", "--set",
                            "calls=4000", *ONCE, "--contenders", "own.bucket", "--page",
                            "page.html", exit_code=0)
        page = (self.folder / "page.html").read_text()
        pictures = re.findall(r'src="data:image/png;base64,([^"]*)"', page)
        if not (MISBEHAVING.parent / "render").exists():
            self.assertEqual(pictures, [])
            return
        self.assertEqual(len(pictures), 1, done.stderr)
        self.assertTrue(base64.b64decode(pictures[0], validate=True).startswith(b"\x89PNG\r\n"))
        self.assertRegex(page, r"frame \d+\.\d\d ms: \d+ commands recorded in ")

    def test_a_scheme_that_loses_alters_or_misplaces_a_command_is_found(self):
        self.assert_found({"peer.unsorts": r"^\d+ commands came out of their order$",
                           "peer.omits": r"^dispatched \d+ commands of \d+$",
                           "peer.alters": "^the hash of all arguments is wrong$"},
                          "--metrics", "sort", threads=1, calls=4000, keys="random")
