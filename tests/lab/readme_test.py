# SPDX-License-Identifier: MIT
"""The commands of README and the guides run as written, one after the other, as a reader
with a clone types them, beginning with `./run`.

They run in a small clone: its build has few contenders, and a wrapper around the program makes each
measurement a short one. `./run` is the real script without its packages and its build.
"""

import os
import re
import shutil
import subprocess

import numpy as np

import synthetic_results as synthetic
from compare_test import CONTENDER, PROJECT
from lab_support import PROGRAM, SOURCE, LabTest, small_build

OURS = ("./run", "handoff ", "export ", "build/release/handoff ")
# Commands of the texts that are not the lab's, and who runs them.
ELSEWHERE = {"./check": "this", "cmake --": "tests/consumer", "g++ ": "tests/consumer",
             "apt-get ": "tests/consumer", "dpkg-buildpackage ": "tests/consumer",
             "conan ": "tests/consumer", "mpirun ": "tests/mpi",
             "srun ": "nobody: it needs Slurm",
             "bpftrace ": "nobody: it needs root", "usdt:": "the same"}

# Beside other tests a machine is busy: a pool may fail, a comparison decides nothing.
ALLOWED = {"run": (0, 1), "compare": (0, 3, 4), "doctor": (0, 3, 4)}

WRAPPER = """#!/bin/bash
case "$1 $*" in
  *--help*) ;;
  run\\ *) set -- "$@" --no-probe --time-budget 1e-9 --launches 1 ;;
  compare\\ *--ref*) set -- "$@" --no-probe --launches 1 --time-budget 1e-9 ;;
  advise\\ *) set -- "$@" --no-probe --time-budget 1e-9 ;;
esac
exec "$(dirname "$0")/small/handoff" "$@"
"""


def commands_of(text):
    """What a reader can type, in order: the lines of blocks without a language, and code in
    sentences that begins like a command."""
    found = []
    for block, code in re.findall(r"^```\n(.*?)^```$|(?<!`)`([^`]+)`", without_code(text),
                                  re.MULTILINE | re.DOTALL):
        if block:
            found += [re.sub(r"\s{2,}#.*", "", line).strip() for line in block.splitlines()]
        elif code.startswith(OURS) and " " in code or code == "./run":
            found.append(" ".join(code.split()))
    return [command for command in found if command]


def without_code(text):
    return re.sub(r"^```[\w+]+\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def texts():
    return [SOURCE / "README.md", *sorted((SOURCE / "docs" / "guide").glob("*.md"))]


def allowed(command):
    words = command.split()
    return ALLOWED.get("run" if words[0] == "./run" else words[1] if len(words) > 1 else "", (0,))


# Each metric has one way, the tasks have one that keeps order too.
KEPT = {f"own.{name}" for name in (
    "append_log", "automatic", "broadcast", "bucket", "bus", "channel", "copy", "event",
    "pool.fixed", "pool.stealing", "process_pool", "process_team",
    "process_team.claims", "serial", "shared_memory", "shared_ring", "thread_team",
    "thread_team.claims")} | {"limit.serial", "limit.bare"}


def is_kept(entry):
    return entry["name"] in KEPT


class Readme(LabTest):
    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *arguments],
                       cwd=self.folder, check=True, capture_output=True)

    def make_clone(self):
        for name, text in (("CMakeLists.txt", PROJECT), ("lab/CMakeLists.txt", ""),
                           ("lab/contender.cpp", CONTENDER)):
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(text)
        shutil.copy(SOURCE / "run", self.folder)
        shutil.copytree(SOURCE / "tools", self.folder / "tools")
        with (self.folder / "tools" / "packages.sh").open("a") as packages:
            packages.write("\nneed_packages() { :; }\nbuild() { :; }\n")
        self.git("init", "--quiet")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a revision")
        release = self.folder / "build" / "release"
        (release / "small").mkdir(parents=True)
        small_build(release / "small", is_kept)
        (release / "handoff").write_text(WRAPPER)
        (release / "handoff").chmod(0o755)
        for name in ("A.npy", "B.npy"):  # a reader has matrices
            np.save(self.folder / name, np.ones((64, 64), dtype=np.float32))

    def run_all(self, commands):
        """(command, exit code, what it said) of each; what one exports the next ones have."""
        script = "".join(f"{command} > said.{i} 2>&1 < /dev/null; echo $? > code.{i}\n"
                         for i, command in enumerate(commands))
        subprocess.run(["bash", "-c", script], cwd=self.folder, check=True, timeout=500,
                       env={**os.environ, "TMPDIR": str(self.folder)})
        return [(command, int((self.folder / f"code.{i}").read_text()),
                 (self.folder / f"said.{i}").read_text()) for i, command in enumerate(commands)]

    def test_every_command_runs_after_the_one_before_it(self):
        commands = list(dict.fromkeys(command for path in texts()
                                      for command in commands_of(path.read_text())))
        ours = [command for command in commands if command.startswith(OURS)]
        self.assertEqual([command for command in commands if command not in ours
                          and not command.startswith(tuple(ELSEWHERE))], [],
                         "neither run here nor known to be run elsewhere")
        self.assertEqual(ours[0], "./run")
        self.assertGreater(len(ours), 15)
        self.make_clone()
        for command, code, said in self.run_all(ours):
            with self.subTest(command):
                self.assertIn(code, allowed(command), said)

    def test_a_command_that_fails_is_found(self):
        self.make_clone()
        done = self.run_all(["export PATH=$PWD/build/release:$PATH",
                             "handoff compare a.json b.json",
                             "handoff advise --grain 1us --count 1", "handoff --version"])
        self.assertEqual([code in allowed(command) for command, code, _ in done],
                         [True, False, False, True])

    def test_commands_are_found_in_a_text(self):
        text = ("Type `./run`.\n\n```\nhandoff list     # all\n\n./check\n```\n```cpp\nf();\n```\n"
                "`handoff run\ntasks` and `handoff` and `handoff::x`, ``a``.\n")
        self.assertEqual(commands_of(text), ["./run", "handoff list", "./check",
                                             "handoff run tasks"])


TOOL = SOURCE / "tools" / "readme_figures"


class Figures(LabTest):
    """The tool that makes README's figures and its picture."""

    def make(self, readme):
        (self.folder / "docs").mkdir(exist_ok=True)
        (self.folder / "README.md").write_text(readme)
        self.write("o.json", synthetic.overview())
        return subprocess.run([TOOL, self.folder / "o.json", "--program", PROGRAM, "--root",
                               self.folder], capture_output=True, text=True, check=False)

    def test_they_stand_between_the_marks(self):
        done = self.make("before\n<!-- measured -->\nold\n<!-- /measured -->\nafter\n")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        text = (self.folder / "README.md").read_text()
        self.assertTrue(text.startswith("before\n<!-- measured -->\n![What each kind"), text)
        self.assertTrue(text.endswith("\n<!-- /measured -->\nafter\n"), text)
        self.assertNotIn("old", text)
        self.assertIn("| an empty task (1000 at a time) |", text)
        self.assertTrue(all(len(line) <= 100 for line in text.splitlines() if line[:1] != "|"))
        self.assertIn("<svg", (self.folder / "docs" / "ladder.svg").read_text())

    def test_a_readme_without_marks_stays_as_it_is(self):
        done = self.make("before\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("readme_figures: README.md has no <!-- measured -->", done.stderr)
        self.assertEqual((self.folder / "README.md").read_text(), "before\n")
