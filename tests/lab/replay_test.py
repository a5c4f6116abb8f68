# SPDX-License-Identifier: MIT
"""`handoff replay`: what it says of a trace, and of files that are none."""

import json
import resource
import subprocess
import unittest

from lab_support import DEEP, PROGRAM, LabTest, whole_lab

QUICKLY = ("--quick", "--no-probe", "--seed", "1")
TWO = ("--contenders", "own.pool.stealing,limit.serial")


def limited(mib):
    """For a child: so much address space, not more."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20))


def build_log(commands):
    """What ninja keeps of a build: commands of 0.1 s to 4 s."""
    text, start = "# ninja log v5\n", 0
    for number in range(commands):
        end = start + 100 + number * 7919 % 3900
        text += f"{start}\t{end}\t0\t{number}.o\t{number:x}\n"
        start = end
    return text


class Replay(LabTest):
    def report_of(self, *arguments):
        return self.json_of("replay", *arguments, *QUICKLY)

    @whole_lab
    def test_a_build_log_under_every_way(self):
        log = self.write("log", build_log(600))
        report = self.report_of(log, "--width", "2", "--speed", "100000")
        self.assertEqual(report["trace"]["form"], "ninja log")
        self.assertEqual(report["arrivals"], "at-once")
        self.assertEqual(report["trace"]["pieces"], 600)
        ways = {way["name"]: way for way in report["ways"]}
        self.assertEqual({name for name in ways if not name.startswith("peer.")},
                         {"here", "own.events", "own.group", "own.workers",
                          *(f"own.pool.{mode}" for mode in
                            ("stealing", "fixed", "active", "cached"))})
        self.assertEqual(report["take"], report["ways"][0]["name"])
        bounds = report["bounds"]
        for way in ways.values():
            if way["makespan_ns"] is None:  # not built, or a thread for each piece
                self.assertTrue(way["state"].startswith("unavailable"), way)
                continue
            self.assertEqual(way["state"], "ok")
            self.assertGreater(way["of_bound"], 0)
            self.assertLessEqual(way["latency_p50_ns"], way["latency_p99_ns"])
            self.assertGreater(way["cpu_ns"], 0)
            self.assertGreater(way["memory_bytes"], 0)
        self.assertGreaterEqual(bounds["list_schedule_ns"], bounds["lower_ns"])

    def test_the_answer_comes_first(self):
        trace = self.write("t.csv", "start_ms,duration_ms,parent\n0,1,\n0,1,\n1,1,1 2\n")
        done = self.run_lab("replay", trace, *TWO, *QUICKLY, "--output", "r.json", exit_code=0)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], r"^take (own\.pool\.stealing|here): [\d.]+ [mu]s, "
                                   r"[\d.]+x of the bound$")
        self.assertIn("t.csv: CSV, 3 pieces, 2 dependencies", done.stdout)
        self.assertIn("arrivals kept", done.stdout)
        self.assertIn("replayed as fast as it was", done.stdout)
        rows = json.loads((self.folder / "r.json").read_text())["rows"]
        self.assertEqual({row["scenario"] for row in rows}, {"replay"})
        self.assertEqual(self.run_lab("report", "r.json", "-o", "p.html").returncode, 0)

    def test_workers_keep_the_pieces_of_a_key_in_order_by_themselves(self):
        rows = [f"{5 * row},20,{row % 3 if row % 4 else ''}" for row in range(0, 600, 5)]
        trace = self.write("t.csv", "\n".join(["start_us,duration_us,key", *rows]) + "\n")
        workers = ("--contenders", "own.workers*")
        ways = self.report_of(trace, *workers)["ways"]
        self.assertEqual({(way["name"], way["state"]) for way in ways},
                         {("own.workers", "ok"), ("own.workers_by_key", "ok")})
        trace = self.write("t.csv", "duration_us,key,parent\n20,a,\n20,,\n20,a,2\n")
        states = {way["name"]: way["state"] for way in self.report_of(trace, *workers)["ways"]}
        self.assertIn("wait for others as well", states["own.workers_by_key"])
        self.assertEqual(states["own.workers"], "ok")
        done = self.run_lab("replay", self.write("t.csv", "duration_us\n20\n"), *workers, *QUICKLY)
        self.assertNotIn("by_key", done.stdout)  # no piece has a key

    def test_with_one_thread_a_group_has_nobody_who_helps(self):
        trace = self.write("t.csv", "duration_us\n20\n20\n")
        ways = self.report_of(trace, "--width", "1", "--contenders", "own.group,own.events")["ways"]
        states = {way["name"]: way["state"] for way in ways}
        self.assertEqual(states["own.events"], "ok")
        self.assertTrue(states["own.group"].startswith("unavailable"), states)

    @unittest.skipUnless(DEEP, "some seconds, and a CPU")
    def test_beside_a_process_that_burns_a_core_nothing_is_told(self):
        self.burn()
        log = self.write("log", build_log(600))
        done = self.run_lab("replay", log, *TWO, "--time-budget", "8", exit_code=4)
        self.assertTrue(done.stdout.startswith("too noisy to tell: "), done.stdout)

    def test_arrivals_are_kept_or_not(self):
        trace = self.write("t.csv", "start_ms,duration_us\n0,1\n60,1\n")
        self.assertGreater(self.report_of(trace, *TWO)["ways"][0]["makespan_ns"], 60e6)
        report = self.report_of(trace, *TWO, "--arrivals", "at-once")
        self.assertEqual(report["arrivals"], "at-once")
        self.assertEqual(report["bounds"]["lower_ns"], 1000)
        faster = self.report_of(trace, *TWO, "--speed", "6")
        self.assertEqual(faster["bounds"]["lower_ns"], 10000167)

    def test_it_ends_in_its_time_and_says_how_far_it_is(self):
        """Where a launch takes a second and five are needed, three seconds are too few: that is
        said. A second launch is made only if the first one was quick enough."""
        trace = self.write("t.csv", "duration_ms\n" + "400\n" * 2)
        done = self.run_lab("replay", trace, *TWO, "--no-probe", "--speed", "1", "--time-budget",
                            "3", exit_code=4)
        self.assertRegex(done.stdout, r"too noisy to tell: .* in the time; at least 5 are needed")
        self.assertRegex(done.stderr, r"(?m)^replaying in 2 ways in turns: [23] s at most$")

    def test_from_ninja_finds_the_log(self):
        (self.folder / "b").mkdir()
        self.write("b/.ninja_log", "# ninja log v5\n0\t5\t0\ta\tb\n5\t7\t0\tc\td\n")
        report = self.report_of("--from-ninja", "b", *TWO)
        self.assertEqual(report["trace"]["pieces"], 2)
        self.assertEqual(report["trace"]["work_ns"], 7e6)
        self.write("b/.ninja_log", "# ninja log v5\n0\t5\t0\ta\tb\n5\t7\t0\tc")
        done = self.run_lab("replay", "--from-ninja", "b", *TWO, *QUICKLY)
        self.assertIn("note: the last line is torn: it is left out\n", done.stdout)

    def test_what_cannot_be_replayed(self):
        good = self.write("t.csv", "duration\n5\n")
        for text, words in (("", "is empty"), ("duration\n5\n-5\n", "line 3: duration '-5'"),
                            ("duration,parent\n5,2\n5,1\n", "waits for itself"),
                            ("[\n{]", "line 2: is no JSON")):
            self.write("bad", text)
            self.assert_refused("replay", "bad", mentions=["bad", words])
        (self.folder / "bad").unlink()
        for arguments, words in (
                ((), "replay takes one trace"), ((good, "--from-ninja", "."), "takes one trace"),
                (("--from-ninja", "."), "there is no ./.ninja_log"),
                (("none.csv",), "none.csv cannot be read"), ((".",), "it is a folder"),
                ((good, "--speed", "0"), "--speed takes"), ((good, "--speed", "nan"), "--speed"),
                ((good, "--speed", "1e9"), "nothing is left to replay"),
                ((good, "--width", "0"), "--width takes"),
                ((good, "--width", "65"), "--width takes"),
                ((good, "--arrivals", "never"), "kept or at-once"),
                ((good, "--arrivals", "kept"), "needs starts"),
                ((good, "--contenders", "own.nobody"), "own.nobody"),
                ((good, "--output", good), "--output")):
            with self.subTest(arguments=arguments):
                self.assert_refused("replay", *arguments, mentions=[words])

    def test_its_help_says_what_it_does_and_not_what_run_does(self):
        text = " ".join(self.run_lab("replay", "--help").stdout.split())
        self.assertIn("--quick launch each way once", text)
        self.assertIn("seconds in all, besides one launch of each way (default 90)", text)
        self.assertNotIn("per cell", text)

    def test_it_is_none_of_the_scenarios_of_run(self):
        self.assert_refused("run", "replay", mentions=["there is no scenario or rung 'replay'"])
        self.assertNotIn("\nreplay:", self.run_lab("list").stdout)

    def test_a_large_trace_is_never_in_memory(self):
        """Read to its end, which is wrong, in an address space of 256 MiB."""
        mib = 1024 if DEEP else 16
        rows = {"csv": ("start,duration,kind\n", "{0},3,a kind of work\n", "x,1,y\n"),
                "json": ("[\n", '{{"ph":"X","pid":1,"tid":1,"ts":{0},"dur":1,"name":"work"}},\n',
                         "{]\n")}
        for form, (head, row, wrong) in rows.items():
            path = self.folder / f"t.{form}"
            with path.open("w") as file:
                size = file.write(head)
                number = 0
                while size < mib << 20:
                    size += file.write("".join(row.format(i) for i in range(number, number + 5000)))
                    number += 5000
                file.write(wrong)  # at its end: all of it was read
            done = subprocess.run([PROGRAM, "replay", path], capture_output=True, text=True,
                                  check=False, preexec_fn=limited(256))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"line {number + 2}", done.stderr)
            path.unlink()
