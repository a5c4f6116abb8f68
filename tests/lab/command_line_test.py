# SPDX-License-Identifier: MIT
"""The command line: what is refused and how, what goes where, exit codes."""

import json
import os
import subprocess

from lab_support import ONCE, PROGRAM, SMALL, LabTest, needs_a_terminal
from terminal import call_at_a_terminal

REFUSED = [
    ((), ["subcommand"]),
    (("rn",), ["'rn'", "did you mean 'run'?"]),
    (("measure",), ["'measure'", "known: run, gate, guard, compare"]),
    (("run", "matmull"), ["'matmull'", "did you mean 'matmul'?"]),
    (("run", "sorting"), ["'sorting'", "known: matmul"]),
    (("run", "matmul", "--set", "widht=2"), ["'widht'", "did you mean 'width'?"]),
    (("run", "matmul", "--set", "n"), ["--set", "'n'"]),
    (("run", "matmul", "--set", "n=-512"), ["'n'", "1 to 4096", "'-512'"]),
    (("run", "matmul", "--set", "n=0"), ["1 to 4096"]),
    (("run", "matmul", "--set", "n=4097"), ["1 to 4096"]),
    (("run", "matmul", "--set", "n=18446744073709551617"), ["1 to 4096"]),
    (("run", "matmul", "--set", "n=512,"), ["1 to 4096", "''"]),
    (("run", "matmul", "--set", "n=5e2"), ["1 to 4096"]),
    (("run", "matmul", "--set", "width=257"), ["'width'", "1 to 256"]),
    (("run", "matmul", "--set", "kernel=tiled"), ["'tiled'", "did you mean 'tile'?"]),
    (("run", "matmul", "--metrics", "gflop"), ["'gflop'", "did you mean 'gflops'?"]),
    (("run", "matmul", "--contenders", "own.thread_taem"), ["'own.thread_taem'", "did you mean"]),
    (("run", "matmul", "--contenders", "own.*,mine.*"), ["'mine.*'"]),
    (("run", "matmul", "--set", "kernel=ikj", "--contenders", "peer.eigen"), ["none of the cells"]),
    (("run", "matmul", "--launches", "0"), ["--launches", "1 to 1000"]),
    (("run", "matmul", "--launches", "99999999999"), ["--launches", "1 to 1000"]),
    (("run", "matmul", "--launches", "many"), ["--launches", "many"]),
    (("run", "matmul", "--time-budget", "-1"), ["--time-budget", "-1"]),
    (("run", "matmul", "--time-budget", "nan"), ["--time-budget", "nan"]),
    (("gate", "figures.toml", "--passes", "0"), ["--passes", "1", "0"]),
    (("run", "matmul", "--seed", "-1"), ["--seed", "below 0"]),
    (("run", "matmul", "--seed", "18446744073709551616"), ["--seed", "below 2^64"]),
    (("doctor", "--self-test", "--seed", "-1"), ["--seed", "below 0"]),
    (("doctor", "--self-test", "--seed", "18446744073709551616"), ["--seed", "below 2^64"]),
    (("doctor", "--self-test", "--equals", "99999999999"), ["--equals", "1", "10000"]),
    (("gate", "figures.toml", "--passes", "99999999999"), ["--passes", "1 to 1000"]),
    (("run", "matmul", "--sed", "1"), ["--sed"]),
    (("run", "matmul", "--manifest", "none.json"), ["none.json", "cannot be read"]),
    (SMALL + ("--output", "no/such/folder.json"), ["no/such/folder.json", "No such file"]),
    (SMALL + ("--output", "."), [".", "folder"]),
    (SMALL + ("--page", "no/page.html"), ["no/page.html", "No such file"]),
    (SMALL + ("--output", "both", "--page", "./both"), ["--output and --page", "both", "name two"]),
    (("gate",), ["figures"]),
    (("gate", "none.toml"), ["none.toml", "cannot be read"]),
]


class CommandLine(LabTest):
    def test_what_is_wrong_gets_one_line_and_exit_code_2(self):
        for arguments, mentions in REFUSED:
            with self.subTest(arguments=arguments):
                self.assert_refused(*arguments, mentions=mentions)

    def test_a_list_of_contenders_that_is_none_is_refused(self):
        for text in ["", "[]", '{"contenders": [{"name": "own.x"}]}']:
            (self.folder / "list.json").write_text(text)
            self.assert_refused("list", "--manifest", "list.json", mentions=["list.json"])

    def test_the_help_names_every_command(self):
        known = self.run_lab("nonesuch").stderr.split("known: ")[1].strip().split(", ")
        text = self.run_lab("--help").stdout
        for command in known:
            self.assertRegex(text, rf"\n  {command} +\w", command)
        self.assertIn("check-advice", known)

    def test_list_names_scenarios_parameters_and_contenders(self):
        done = self.run_lab("list", exit_code=0)
        self.assertEqual(done.stderr, "")
        for words in ["matmul", "gflops", "width", "1 to 4096", "naive, naive_restrict, ikj, tile",
                      "own.thread_team", "peer.openblas", "limit.fma"]:
            self.assertIn(words, done.stdout)
        self.assertRegex(done.stdout, r"enqueue_process .*\n.*; in the overview")
        self.assertNotRegex(done.stdout, r"second_queue .*\n.*; in the overview")

    def test_version_says_what_was_built(self):
        done = self.run_lab("--version", exit_code=0)
        self.assertRegex(done.stdout, r"^handoff \d+\.\d+\.\d+ \(.+\), .+ -O\d -march=native\n$")

    def test_tables_go_to_stdout_and_talk_to_stderr(self):
        done = self.run_lab(*SMALL, "--seed", "7", exit_code=0)
        self.assertIn("own.thread_team", done.stdout)
        self.assertIn("GFLOP/s", done.stdout)
        self.assertEqual(done.stderr, "launches 1, seed 7\n")
        self.assertNotIn("\033", done.stdout)
        self.assertEqual(self.files(), [])

    def test_without_an_overview_verbose_prints_the_same_tables(self):
        done = self.run_lab(*SMALL, "--verbose", "--contenders", "own.thread_team", exit_code=0)
        self.assertEqual(done.stdout.count("99 % interval"), 1)
        self.assertNotIn("best other", done.stdout)

    def test_only_what_matches_a_pattern_is_measured(self):
        result = self.result_of(*SMALL, "--contenders", "seed.[st]*,own.thread_tea?")
        names = {row["contender"] for row in result["rows"]}
        self.assertEqual(names, {"seed.single", "seed.threads", "own.thread_team"})

    def test_of_all_scenarios_those_are_measured_that_have_such_contenders(self):
        result = self.result_of("run", *ONCE, "--contenders", "limit.wake,limit.bare")
        self.assertEqual({(row["scenario"], row["contender"]) for row in result["rows"]},
                         {("tasks", "limit.wake"), ("machine", "limit.bare")})
        self.assert_refused("run", "--contenders", "limit.chain",  # the doctor's
                            mentions=("no contender matches 'limit.chain'",))

    @needs_a_terminal
    def test_a_terminal_sees_progress_and_bold_headings_unless_no_color(self):
        for no_color, styled in [("", True), ("1", False)]:
            _, shown = call_at_a_terminal("", PROGRAM, *SMALL,
                                          env={**os.environ, "NO_COLOR": no_color})
            self.assertEqual("\033[1m" in shown, styled)
            self.assertIn("1 of 1", shown)

    def test_a_device_can_be_an_output(self):
        done = self.run_lab(*SMALL, "--output", "/dev/full", exit_code=2)
        self.assertIn("/dev/full: cannot be written: No space left", done.stderr)
        self.assertEqual(self.run_lab(*SMALL, "--output", "/dev/null").returncode, 0)
        self.assertTrue(os.path.exists("/dev/null"))


    def test_what_cannot_be_printed_is_no_success(self):
        for arguments in (("list",), SMALL, ("run", "--help")):
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                done = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE,
                                      text=True, cwd=self.folder, timeout=60, check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(done.stderr, "^handoff: stdout cannot be written: .*full|No space")

    def test_a_closed_stdout_is_no_success_and_a_closed_stderr_no_end(self):
        for closed, code in ((1, 2), (2, 0)):
            with self.subTest(closed=closed):
                done = subprocess.run([PROGRAM, *SMALL, "--output", f"{closed}.json"],
                                      preexec_fn=lambda: os.close(closed), cwd=self.folder,
                                      timeout=60, check=False)
                self.assertEqual(done.returncode, code)
                self.assertTrue(json.loads((self.folder / f"{closed}.json").read_text()))
