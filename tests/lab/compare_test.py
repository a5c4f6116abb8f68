# SPDX-License-Identifier: MIT
"""`handoff compare`: verdicts on files made for it, and a revision that is really built."""

import json
import os
import random
import signal
import subprocess
import time

import synthetic_results as synthetic
from lab_support import NO_TIME, ONCE, PROGRAM, SOURCE, LabTest, processes_in
from report_test import BAD_FILES


def result(*rows, **environment):
    return {"schema": 1, "environment": environment, "rows": list(rows)}


def row(value, noise=0.001, contender="own.thread_team", **more):
    numbers = random.Random(repr((value, contender)))
    return synthetic.row(contender, synthetic.launches_around(value, numbers, noise, launches=8),
                         **more)


def unmeasured(status, contender="own.thread_team"):
    return synthetic.row(contender, [], status=status, reason="the reason")


class Files(LabTest):
    def compare(self, before, now, *options):
        self.write("before.json", before)
        self.write("now.json", now)
        return self.run_lab("compare", "before.json", "now.json", *options)

    def assert_verdicts(self, exit_code, verdicts, before, now):
        done = self.compare(result(*before), result(*now), "--json")
        self.assertEqual((done.returncode, done.stderr), (exit_code, ""), done.stdout)
        self.assertEqual([entry["verdict"] for entry in json.loads(done.stdout)], verdicts)

    def test_each_verdict_has_its_exit_code(self):
        self.assert_verdicts(0, ["improved"], [row(100)], [row(110)])
        self.assert_verdicts(0, ["unchanged"], [row(100)], [row(100.5)])
        self.assert_verdicts(3, ["worse"], [row(100)], [row(90)])
        self.assert_verdicts(4, ["too noisy"], [row(100)], [row(103, noise=0.5)])

    def test_lower_may_be_better(self):
        lower = {"metric": "latency", "unit": "ns", "better": "lower"}
        self.assert_verdicts(3, ["worse"], [row(100, **lower)], [row(110, **lower)])
        self.assert_verdicts(0, ["improved"], [row(100, **lower)], [row(90, **lower)])

    def test_worse_weighs_more_than_noisy_and_noisy_more_than_improved(self):
        before = [row(100, contender=f"own.{name}") for name in "abc"]
        now = [row(110, contender="own.a"), row(103, noise=0.5, contender="own.b"),
               row(90, contender="own.c")]
        self.assert_verdicts(3, ["improved", "too noisy", "worse"], before, now)
        self.assert_verdicts(4, ["improved", "too noisy"], before[:2], now)

    def test_what_broke_is_worse_and_what_is_missing_is_not_compared(self):
        whole = row(100, contender="own.whole")
        for status, code, verdict in [("wrong", 3, "worse"), ("failed", 3, "worse"),
                                      ("unavailable", 0, None)]:
            self.assert_verdicts(code, [verdict, "unchanged"], [row(100), whole],
                                 [unmeasured(status), whole])
            self.assert_verdicts(0, [None, "unchanged"], [unmeasured(status), whole],
                                 [row(100), whole])

    def test_a_noisy_row_and_the_floor_of_the_machine_count(self):
        self.assert_verdicts(4, ["too noisy"], [row(100)],
                             [row(90, status="noisy", reason="disturbed")])
        for floor, exit_code in [(0.01, 3), (0.3, 0)]:
            done = self.compare(result(row(100)), result(row(90), floor=floor))
            self.assertEqual(done.returncode, exit_code, done.stdout)

    def test_equals_are_not_called_different_and_5_percent_is_found(self):
        pairs = [1.0] * 200 + [1.05, 1 / 1.05] * 50
        found = self.verdicts_of(pairs)
        equals, planted = found[:200], found[200:]
        wrong = [verdict for verdict in equals if verdict in ("improved", "worse")]
        self.assertLessEqual(len(wrong), 4, equals)
        right = [verdict for verdict, expected in zip(planted, ["improved", "worse"] * 50)
                 if verdict == expected]
        self.assertGreaterEqual(len(right), 95, planted)
        self.assertNotIn("unchanged", planted)

    def test_beside_a_neighbour_nothing_is_called_different_or_equal(self):
        neighbour = {"status": "noisy", "reason": "another process took 40 % of a CPU"}
        self.assertEqual(set(self.verdicts_of([1.0, 1.05, 2.0] * 20, **neighbour)), {"too noisy"})

    def verdicts_of(self, ratios, **more):
        """Of pairs of rows that were measured apart, by a machine on which launches differ by 1 %
        and their bursts by as much, and every twentieth burst is hit."""
        numbers = random.Random(23)

        def measured(value):
            launches = [value * (1 + 0.01 * numbers.gauss(0, 1)) for _ in range(12)]
            return [[launch * (1 + 0.01 * numbers.gauss(0, 1)) *
                     (1 - (0.5 * numbers.random() if numbers.random() < 0.05 else 0))
                     for _ in range(5)] for launch in launches]

        names = [f"own.{number}" for number in range(len(ratios))]
        before = [synthetic.row(name, measured(100)) for name in names]
        now = [synthetic.row(name, measured(100 * ratio), **more)
               for name, ratio in zip(names, ratios)]
        done = self.compare(result(*before), result(*now), "--json")
        verdicts = {entry["contender"]: entry["verdict"] for entry in json.loads(done.stdout)}
        return [verdicts[name] for name in names]

    def test_a_figure_of_zero_has_no_ratio(self):
        idle = row(100, noise=0)
        idle["launches"], idle["samples"], idle["median"] = [[0.0]] * 8, [0.0] * 8, 0.0
        whole = row(100, contender="own.whole")
        self.assert_verdicts(0, [None, "unchanged"], [idle, whole], [idle, whole])

    def test_rows_match_by_what_they_did(self):
        before = [row(100, parameters={"n": 1}), row(100, parameters={"n": 2})]
        now = [row(90, parameters={"n": 2}), row(100, parameters={"n": 3})]
        self.assert_verdicts(3, ["worse"], before, now)

    def test_the_table_says_it_all(self):
        done = self.compare(result(row(100, parameters={"n": 5})),
                            result(row(90, parameters={"n": 5})))
        for words in ["matmul n=5  (gflops in GFLOP/s, higher is better)", "own.thread_team",
                      "0.90", "worse", "0 improved, 0 unchanged, 1 worse, 0 too noisy"]:
            self.assertIn(words, done.stdout)

    def test_the_columns_say_what_they_are(self):
        done = self.compare(result(row(100)), result(row(90)))
        self.assertRegex(done.stdout, r"contender +median before +median now +now / before +"
                                      r"99 % interval of it +verdict")

    def test_the_ratio_is_that_of_the_medians_or_a_line_says_why_not(self):
        numbers = random.Random(5)
        tried = apart = 0
        for case in range(60):
            def launches():
                states = [10.0, 25.0 if case % 2 else 10.2]
                return [[numbers.choice(states) * (1 + 0.002 * numbers.random()) for _ in range(3)]
                        for _ in range(8 + case % 3)]
            before, now = synthetic.row("own.a", launches()), synthetic.row("own.a", launches())
            done = self.compare(result(before), result(now), "--json")
            [one] = json.loads(done.stdout)
            quotient = one["now"] / one["before"]
            tried += 1
            slack = 1 + one["margin"]
            if min(one["low"], one["ratio"] / slack) <= quotient <= max(
                    one["high"], one["ratio"] * slack):
                self.assertEqual(one["reason"], "")
                continue
            apart += 1
            self.assertIn(f"the ratio of the medians is {quotient:.3f}", one["reason"])
            self.assertIn(one["reason"], self.compare(result(before), result(now)).stdout)
            if (quotient > slack and one["ratio"] < 1) or (quotient < 1 / slack
                                                           and one["ratio"] > 1):
                self.assertEqual(one["verdict"], "too noisy")
        self.assertGreater(tried - apart, 10)
        self.assertGreater(apart, 0)

    def test_medians_on_the_other_side_of_1_are_too_noisy(self):
        """Most pairs of launches say 1.2; the medians, each of all its launches, say 0.5."""
        before = synthetic.row("own.a", [[v] for v in [10, 10, 10, 10, 20, 20, 20, 20, 20]])
        now = synthetic.row("own.a", [[v] for v in [12, 12, 12, 12, 10, 10, 10, 24, 24]])
        done = self.compare(result(before), result(now), "--json")
        [one] = json.loads(done.stdout)
        self.assertEqual((done.returncode, one["verdict"]), (4, "too noisy"))

    def test_different_machines_are_noted(self):
        one, other = synthetic.result(0), synthetic.result(1)
        done = self.compare(one, other)
        self.assertEqual(done.returncode, 4, done.stdout)  # one of its rows is marked noisy
        self.assertIn("different machines: Model 0", done.stderr)

    def test_an_interrupted_one_is_named(self):
        done = self.compare(result(row(100)), {**result(row(100)), "interrupted": True})
        self.assertIn("note: now.json was interrupted", done.stderr)
        self.assertNotIn("before.json", done.stderr)

    def test_what_cannot_be_compared_gets_one_line(self):
        before, now = self.folder / "before.json", self.folder / "now.json"
        before.write_text(json.dumps(result(row(100))))
        now.write_text(json.dumps(result(row(100, scenario="events"))))
        self.assert_refused("compare", before, now,
                            mentions=["no row in common", "matmul", "events"])
        now.write_text(json.dumps(result(unmeasured("unavailable"))))
        self.assert_refused("compare", before, now, mentions=["the reason"])
        text, mentions = BAD_FILES["control"]  # all others are refused where results are read
        now.write_text(text)
        for files in ((before, now), (now, before)):
            self.assert_refused("compare", *files, mentions=["now.json", *mentions])
        self.assert_refused("compare", before, before, mentions=["the same file"])
        self.assert_refused("compare", before, mentions=["two result files"])
        self.assert_refused("compare", before, before, "--launches", "5",
                            mentions=["--launches", "--ref"])


# A clone of a project that has just enough of a lab: it lists one contender and builds it.
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(other CXX)
file(WRITE ${CMAKE_BINARY_DIR}/libexec/handoff/contenders.json [[{"contenders": [
  {"scenario": "matmul", "name": "own.thread_team", "executable": "matmul/own.thread_team",
   "package": "", "when": {}},
  {"scenario": "matmul", "name": "peer.openmp", "executable": "matmul/peer.openmp",
   "package": "", "when": {}}]}]])
add_executable(free_name lab/contender.cpp SOURCE/lab/harness/contender.cpp)
target_include_directories(free_name PRIVATE SOURCE/lab SOURCE/include)
target_compile_features(free_name PRIVATE cxx_std_20)
set_target_properties(free_name PROPERTIES OUTPUT_NAME own.thread_team
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/libexec/handoff/matmul)
""".replace("SOURCE", str(SOURCE))

CONTENDER = """#include <algorithm>
#include <memory>
#include <vector>

#include "harness/contender.hpp"

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> input) {
  const std::size_t n = parameters.number("n");
  const auto* first = reinterpret_cast<const float*>(input.data());
  auto a = std::make_shared<std::vector<float>>(first, first + 2 * n * n);
  auto c = std::make_shared<std::vector<float>>(n * n);
  const auto product = [a, c, n](Burst&) {
    for (std::size_t i = 0; i < n; ++i) {
      float* const row = &(*c)[i * n];
      std::fill_n(row, n, 0.0F);
      for (std::size_t k = 0; k < n; ++k) {
        const float factor = (*a)[i * n + k];
        const float* const other = &(*a)[n * n + k * n];
        for (std::size_t j = 0; j < n; ++j) row[j] += factor * other[j];
      }
    }
  };
  return {product, std::as_writable_bytes(std::span(*c))};
}
"""


class Revisions(LabTest):
    def setUp(self):
        super().setUp()
        self.clone = self.folder / "clone"
        self.temporary = self.folder / "temporary"
        self.temporary.mkdir()
        (self.clone / "lab").mkdir(parents=True)
        self.git("init", "--quiet")
        self.commit(PROJECT, CONTENDER)

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.clone, "-c", "user.name=test", "-c",
                               "user.email=test@localhost", *arguments], check=True, text=True,
                              capture_output=True).stdout

    def commit(self, project, contender):
        (self.clone / "CMakeLists.txt").write_text(project)
        (self.clone / "lab" / "CMakeLists.txt").write_text("")
        (self.clone / "lab" / "contender.cpp").write_text(contender)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a revision")

    def arguments(self, *more, ref="HEAD"):
        return [PROGRAM, "compare", f"--ref={ref}", *more]

    def environment(self):
        return {**os.environ, "TMPDIR": str(self.temporary)}

    def run_compare(self, *more, ref="HEAD"):
        return subprocess.run(self.arguments(*more, ref=ref), cwd=self.clone, text=True,
                              env=self.environment(), capture_output=True,
                              stdin=subprocess.DEVNULL)

    def assert_nothing_left(self):
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)
        self.assertEqual(self.git("status", "--porcelain"), "")

    def assert_one_line(self, mentions, *more, ref="HEAD"):
        done = self.run_compare(*more, ref=ref)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for words in mentions:
            self.assertIn(words, done.stderr)
        self.assert_nothing_left()

    def test_a_revision_is_built_and_measured_in_turns_with_this_build(self):
        output = self.folder / "results.json"
        done = self.run_compare("matmul", "--set", "n=64", "--set", "kernel=ikj", "--no-probe",
                                "--launches", "5", *NO_TIME, "--output", output)
        self.assertIn(done.returncode, (0, 3, 4), done.stderr)
        self.assertIn("own.thread_team", done.stdout)
        commit = self.git("rev-parse", "--short=12", "HEAD").strip()
        self.assertIn(f"before: HEAD ({commit})", done.stderr)
        rows = self.result_in(output)["rows"]
        self.assertEqual([row["contender"] for row in rows],
                         ["own.thread_team", f"own.thread_team@{commit}"])
        self.assertEqual({row["block"] for row in rows}, {0})
        self.assertEqual([row["status"] for row in rows], ["ok", "ok"])
        self.assertEqual([len(row["launches"]) for row in rows], [5, 5])
        self.assert_nothing_left()

    def test_a_contender_of_the_revision_that_breaks_is_said(self):
        self.commit(PROJECT, CONTENDER.replace("row[j] += ", "row[j] -= "))
        done = self.run_compare("matmul", "--set", "n=64", "--set", "kernel=ikj", *ONCE)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("before wrong: its relative error", done.stdout)
        self.assert_nothing_left()

    def test_a_revision_that_cannot_be_built_gets_one_line(self):
        self.commit(PROJECT + 'message(FATAL_ERROR "no luck")\n', CONTENDER)
        self.assert_one_line(["'HEAD'", "configuring failed: CMake Error"], "matmul")
        self.commit(PROJECT, CONTENDER + "int broken = ;\n")
        self.assert_one_line(["'HEAD'", "building failed", "error: expected primary-expression"],
                             "matmul")
        self.commit(PROJECT.replace("own.thread_team", "own.other_team"), CONTENDER)
        self.assert_one_line(["'HEAD'", "has none of the contenders"], "matmul")
        (self.clone / "lab" / "CMakeLists.txt").unlink()
        self.git("rm", "--quiet", "-r", "lab")
        self.git("commit", "--quiet", "--message", "no lab")
        self.assert_one_line(["'HEAD'", "has no lab"], "matmul")

    def test_a_revision_that_is_none_gets_one_line(self):
        self.assert_one_line(["no revision '--force'"], "matmul", ref="--force")
        self.assert_one_line(["no revision 'HEAD~99'"], "matmul", ref="HEAD~99")
        self.assert_one_line(["there is no scenario 'matmull'"], "matmull")
        self.assert_one_line(["'n'", "1 to 4096"], "matmul", "--set", "n=0")
        self.assert_one_line(["no/such.json"], "matmul", "--output", "no/such.json")
        outside = subprocess.run(self.arguments("matmul"), cwd=self.temporary, text=True,
                                 env={**self.environment(), "GIT_CEILING_DIRECTORIES": "/"},
                                 capture_output=True)
        self.assertEqual((outside.returncode, len(outside.stderr.splitlines())), (2, 1))
        self.assertIn("--ref needs git and a clone of handoff", outside.stderr)

    def start_and_end_while_building(self, end):
        marker = self.folder / "building"
        self.commit(PROJECT + "add_custom_target(slow COMMAND touch " + str(marker) +
                    " COMMAND sleep 1000)\nadd_dependencies(free_name slow)\n",
                    CONTENDER)
        running = self.start(*self.arguments("matmul"), cwd=self.clone, env=self.environment(),
                             stderr=subprocess.PIPE)
        deadline = time.monotonic() + 300
        while not marker.exists():
            self.assertLess(time.monotonic(), deadline, "the build does not start")
            self.assertIsNone(running.poll(), "it ended before the build")
            time.sleep(0.01)
        running.send_signal(end)
        running.wait(300)
        said = running.stderr.read()
        running.stderr.close()
        return running.returncode, said

    def test_an_interrupted_build_leaves_nothing(self):
        self.assertEqual(self.start_and_end_while_building(signal.SIGINT),
                         (128 + signal.SIGINT, ""))
        self.assert_nothing_left()
        self.assert_no_process_left()

    def test_a_killed_one_leaves_no_process_and_the_repository_as_it_was(self):
        code, _ = self.start_and_end_while_building(signal.SIGKILL)
        self.assertEqual(code, -signal.SIGKILL)
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assert_no_process_left()

    def test_an_interrupted_measurement_keeps_what_it_has(self):
        output = self.folder / "results.json"
        running = self.start(
            *self.arguments("matmul", "--set", "n=64", "--set", "kernel=ikj", "--no-probe",
                            "--launches", "1000", "--time-budget", "600", "--output", output),
            cwd=self.clone, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = running.stderr.readline()
        self.assertTrue(said.startswith("before: HEAD ("), said)
        launches = set()
        while len(launches) < 6:  # three of each side
            self.assertIsNone(running.poll())
            launches |= set(processes_in(self.clone.resolve())) - {running.pid}
        running.send_signal(signal.SIGINT)
        tables, said = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 128 + signal.SIGINT)
        self.assertEqual(said, "note: interrupted: the measurement is incomplete\n")
        self.assertIn("own.thread_team", tables)
        self.assertTrue(json.loads(output.read_text())["interrupted"])
        self.assert_nothing_left()

    def assert_no_process_left(self):
        deadline = time.monotonic() + 60  # a build that lost its parent may need a moment to end
        while subprocess.run(["pgrep", "--full", str(self.temporary)], capture_output=True).stdout:
            self.assertLess(time.monotonic(), deadline, "something of the build is still running")
            time.sleep(0.05)
