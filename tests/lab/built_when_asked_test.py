# SPDX-License-Identifier: MIT
"""Contenders are built once something needs them: by a build tree, for every command that starts
them, one build at a time. An installed lab says which it has not."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from lab_support import NO_TIME, ONCE, PROGRAM, SOURCE, LabTest

BUILD = Path(PROGRAM).parent
LIBEXEC = BUILD / "libexec" / "handoff"
# Stands in for cmake: notes what is to be built, and makes links to what the real build made.
CMAKE = f"""#!{sys.executable}
import json, os, sys, time
from pathlib import Path
tree = Path(sys.argv[2])
wanted = sys.argv[sys.argv.index("--target") + 1:]
alone = tree / "somebody builds"
alone.mkdir()  # nobody else does
print("the first line")
if (tree / "broken").exists():
    sys.exit("a.cpp:1: error: nonsense")
entries = [entry for name in ("contenders", "canaries") for entry in
           json.loads((tree / "libexec/handoff" / f"{{name}}.json").read_text())["contenders"]]
time.sleep(0.3)
for entry in entries:
    if entry["executable"] and "handoff_" + entry["executable"][0].replace("/", "_") in wanted:
        for program in entry["executable"]:
            link = tree / "libexec/handoff" / program
            link.parent.mkdir(exist_ok=True)
            link.unlink(missing_ok=True)  # another contender is the same program
            link.symlink_to({str(LIBEXEC)!r} + "/" + program)
with open(tree / "asked", "a") as asked:
    print(*wanted, file=asked)
alone.rmdir()
"""
MACHINE = ("run", "machine", "--metrics", "system_call", *ONCE)
FIGURE = """[[figure]]
name = "a figure"
scenario = "grain"
metric = "loop"
contender = "own.thread_team"
against = "own.pool.stealing"
parameters = { width = 2 }
ratio = "time"
at_most = 1000
"""


class Tree(LabTest):
    """The program in a build tree that has its lists of contenders and none of them."""

    def setUp(self):
        super().setUp()
        self.tree = self.folder / "tree"
        (self.tree / "libexec" / "handoff").mkdir(parents=True)
        for name in ("contenders.json", "canaries.json"):
            shutil.copy(LIBEXEC / name, self.tree / "libexec" / "handoff")
        self.program = shutil.copy(PROGRAM, self.tree)
        (self.tree / "CMakeCache.txt").touch()
        (self.folder / "bin").mkdir()
        cmake = self.folder / "bin" / "cmake"
        cmake.write_text(CMAKE)
        cmake.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{cmake.parent}:{os.environ['PATH']}"}

    def start(self, *arguments):
        return subprocess.Popen([self.program, *map(str, arguments)], cwd=self.folder, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=self.environment)

    def call(self, *arguments, code=0):
        process = self.start(*arguments)
        stdout, stderr = process.communicate()
        self.assertEqual(process.returncode, code, (arguments, stdout, stderr))
        return stdout, stderr

    def asked(self):
        """What was to be built, build by build."""
        path = self.tree / "asked"
        lines = path.read_text().splitlines() if path.exists() else []
        return [set(line.split()) for line in lines]


class Built(Tree):
    def test_what_a_run_needs_is_built_once(self):
        _, stderr = self.call("run", "machine", "--metrics", "system_call", "--quick",
                              "--launches", "1", *NO_TIME)
        self.assertRegex(stderr, r"(?m)^building 2 contenders: \d+ s$")
        self.assertEqual(self.asked(), [{"handoff_machine_limit.bare", "handoff_probe_limit.fma"}])
        _, stderr = self.call(*MACHINE)
        self.assertNotIn("building", stderr)
        self.assertEqual(len(self.asked()), 1)

    def test_several_scenarios_are_one_build(self):
        self.call("run", "--contenders", "limit.wake,limit.bare", *ONCE)
        self.assertEqual(self.asked(),
                         [{"handoff_machine_limit.bare", "handoff_tasks_plain"}])

    def test_a_layout_that_is_gone_is_built_again(self):
        self.call(*MACHINE)
        list((self.tree / "libexec" / "handoff" / "machine").iterdir())[-1].unlink()
        done = self.start(*MACHINE).communicate()[1]
        self.assertIn("building 1 contenders", done)

    def test_targets_are_those_of_a_run_whether_built_or_not(self):
        for _ in range(2):
            stdout, _ = self.call("run", "forkjoin", "--no-probe", "--targets")
            self.assertIn("handoff_forkjoin_limit.serial\n", stdout)
            self.assertNotIn("peer.taskflow", stdout)  # no package brings it
            self.call("run", "forkjoin", "--contenders", "limit.serial", *ONCE)
        everything, _ = self.call("run", "--targets")
        overview, _ = self.call("run", "--quick", "--targets")
        self.assertLess(len(overview.split()), len(everything.split()))
        self.assertLessEqual(set(overview.split()), set(everything.split()))
        self.assertIn("handoff_probe_limit.fma", overview)
        self.assertEqual(len(self.asked()), 1)

    def test_a_failed_build_is_one_line_that_names_the_log(self):
        (self.tree / "broken").touch()
        stdout, stderr = self.call(*MACHINE, code=2)
        log = self.tree / "contenders.log"
        self.assertEqual(stdout, "")
        self.assertRegex(stderr.splitlines()[-1], "^handoff: building 1 contenders failed: "
                         f"a.cpp:1: error: nonsense; .* is in {log}$")
        self.assertIn("the first line\n", log.read_text())

    def test_without_cmake_it_says_so(self):
        self.environment["PATH"] = str(self.folder)
        _, stderr = self.call(*MACHINE, code=2)
        self.assertIn("cmake could not be started", stderr)

    def test_two_programs_build_one_after_the_other(self):
        """The stand-in fails where it is not alone."""
        both = [self.start(*MACHINE), self.start("run", "spawn", "--contenders", "limit.clone",
                                                 *ONCE), self.start(*MACHINE)]
        for process in both:
            _, stderr = process.communicate()
            self.assertEqual(process.returncode, 0, stderr)
        self.assertCountEqual(self.asked(), [{"handoff_machine_limit.bare"},
                                             {"handoff_spawn_plain"}])

    def test_every_command_builds_what_it_starts(self):
        (self.folder / "figures.toml").write_text(FIGURE)
        (self.folder / "trace.csv").write_text("duration_us\n20\n")
        team = "handoff_grain_own.thread_team"
        kernel = self.folder / "kernel.so"
        subprocess.run([os.environ["HANDOFF_COMPILER"], "-std=c++17", "-O1", "-fPIC", "-shared",
                        "-DKERNEL=sound", f"-I{SOURCE / 'include'}",
                        SOURCE / "tests" / "lab" / "kernels" / "kernel.cpp", "-o", kernel],
                       check=True)
        few = ("--no-probe", "--launches", "1", *NO_TIME)
        for target, *arguments in (
                (team, "gate", "figures.toml", "--passes", "1", *few),
                (team, "trace", "grain", "--contender", "own.thread_team"),
                ("handoff_try_plain", "try", kernel, *few),
                ("handoff_replay_own", "replay", "trace.csv", *few),
                (team, "advise", "--unit", "index", "--grain", "1us", "--count", "1000",
                 "--measure", "--no-probe", *NO_TIME)):
            with self.subTest(command=arguments[0]):
                shutil.rmtree(self.tree / "libexec" / "handoff" / target.split("_")[1],
                              ignore_errors=True)
                (self.tree / "asked").unlink(missing_ok=True)
                stdout, stderr = self.start(*arguments).communicate()
                built = set().union(*self.asked())
                self.assertIn(target, built, stdout + stderr)
                self.assertNotIn("No such file", stdout + stderr)


class Installed(Tree):
    def test_an_installed_lab_builds_nothing_and_says_what_it_has_not(self):
        (self.tree / "CMakeCache.txt").unlink()
        stdout, _ = self.call(*MACHINE, "--json")
        row = json.loads(stdout)["rows"][0]
        self.assertEqual((row["status"], row["reason"]), ("unavailable", "not built"))
        stdout, _ = self.call("list", "machine")
        self.assertRegex(stdout, "limit.bare +not built\\n")
        self.assertRegex(self.call("doctor")[0],
                         r"(?m)^contenders +0 of \d+ are there, \d+ were not built")
        self.assertEqual(self.call("run", "machine", "--targets")[0], "")
        self.assertEqual(self.asked(), [])

    def test_what_is_built_is_installed(self):
        """From a tree of the same project where one contender was built."""
        tree = self.folder / "another tree"
        subprocess.run(["cmake", "-G", "Ninja", "-S", SOURCE, "-B", tree,
                        "-DCMAKE_BUILD_TYPE=Release", "-DHANDOFF_TESTS=OFF",
                        "-DHANDOFF_EXAMPLES=OFF", "-DHANDOFF_LAB_CONTENDERS=few",
                        f"-DCMAKE_CXX_COMPILER={os.environ['HANDOFF_COMPILER']}"],
                       check=True, capture_output=True)
        shutil.copy(PROGRAM, tree)
        shutil.copytree(LIBEXEC / "machine", tree / "libexec" / "handoff" / "machine",
                        dirs_exist_ok=True)
        subprocess.run(["cmake", "--install", tree, "--component", "lab", "--prefix",
                        self.folder / "there"], check=True, capture_output=True)
        self.program = self.folder / "there" / "bin" / "handoff"
        for scenario, metric, status in (("machine", "system_call", "ok"),
                                         ("tasks", "ping", "unavailable")):
            stdout, _ = self.call("run", scenario, "--metrics", metric, "--contenders", "limit.*",
                                  *ONCE, "--json")
            self.assertEqual({row["status"] for row in json.loads(stdout)["rows"]}, {status})
