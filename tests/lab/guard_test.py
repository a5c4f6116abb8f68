# SPDX-License-Identifier: MIT
"""`handoff guard`: verdicts on contenders that say how long they took, beside a revision that is
built, and what plants a slow-down."""

import os
import socket
import subprocess
import unittest
from pathlib import Path

from fake_contender import launched, write_contender
from lab_support import PROGRAM, SOURCE, LabTest

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(other NONE)
file(COPY lab/contenders.json DESTINATION ${CMAKE_BINARY_DIR}/libexec/handoff)
file(GLOB programs RELATIVE ${CMAKE_SOURCE_DIR}/lab lab/own.fake/*)
foreach(program IN LISTS programs)
  add_custom_command(OUTPUT libexec/handoff/${program} COMMAND ${CMAKE_COMMAND} -E copy
    ${CMAKE_SOURCE_DIR}/lab/${program} libexec/handoff/${program})
  list(APPEND made ${CMAKE_BINARY_DIR}/libexec/handoff/${program})
endforeach()
add_custom_target(programs DEPENDS ${made})
"""
CELL = """[[cell]]
name = "{name}"
scenario = "spawn"
metric = "thread"
contender = "{contender}"
"""
USUAL = 1_000_000


def cell(name="a cell", contender="own.fake"):
    return CELL.format(name=name, contender=contender)


class Guard(LabTest):
    def setUp(self):
        super().setUp()
        self.clone = self.folder / "clone"
        self.now = self.folder / "now"
        write_contender(self.clone / "lab", USUAL)
        (self.clone / "CMakeLists.txt").write_text(PROJECT)
        (self.clone / "lab" / "CMakeLists.txt").write_text("")
        for arguments in (["init", "--quiet"], ["add", "--all"],
                          ["commit", "--quiet", "--message", "a revision"]):
            subprocess.run(["git", "-C", self.clone, "-c", "user.name=test", "-c",
                            "user.email=test@localhost", *arguments], check=True)

    def guard(self, *more, cells=None, environment=None):
        (self.clone / "cells.toml").write_text(cells or cell())
        return subprocess.run(
            [PROGRAM, "guard", "cells.toml", "--ref", "HEAD", "--no-probe", "--manifest",
             self.now / "contenders.json", *more],
            cwd=self.clone, env={**os.environ, **(environment or {})}, text=True,
            capture_output=True, stdin=subprocess.DEVNULL)

    def expect(self, done, code, *lines):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for line in lines:
            self.assertRegex(done.stdout, "(?m)^" + line)

    def test_equals(self):
        write_contender(self.now, USUAL)
        self.expect(self.guard(), 0, r"same or better  a cell: [01]\.\d+ \([01]\.\d+ \.\. ",
                    "1 cells: 0 worse, 1 same or better, 0 undecided, 0 broken; .* beyond 3.0 %")

    def test_what_is_slower_is_worse_in_two_runs_without_a_layout_in_common(self):
        write_contender(self.now, 1.085 * USUAL)
        self.expect(self.guard(), 3, r"worse           a cell: 1\.08\d ", "1 cells: 1 worse")
        started = launched(self.now)
        self.assertEqual(set(started[:5]), {"layout0", "layout2"})
        self.assertEqual(set(started[5:]), {"layout1", "layout3"})

    def test_what_is_slower_in_some_layouts_only_is_not(self):
        write_contender(self.now, 1.08 * USUAL, USUAL)
        self.expect(self.guard(), 0, "same or better  a cell: .*, worse in the first run$")

    def test_what_is_slower_by_less_than_the_margin_is_not(self):
        write_contender(self.now, 1.02 * USUAL)
        self.expect(self.guard(), 0, "same or better  a cell: 1")

    def test_what_is_faster_is_better(self):
        write_contender(self.now, 0.55 * USUAL)
        self.expect(self.guard(), 0, r"same or better  a cell: 0\.55")

    def test_what_goes_to_and_fro_is_not_told_after_all_looks(self):
        write_contender(self.now, 1.5 * USUAL, USUAL, 0.8 * USUAL)
        self.expect(self.guard(), 4, "undecided       a cell: ")
        self.assertEqual(len(launched(self.now)), 256)

    def test_what_the_revision_has_not_is_not_told(self):
        for name in ("own.fake", "own.new"):
            write_contender(self.now, USUAL, name=name)
        self.expect(self.guard(cells=cell() + cell("another", "own.new")), 4,
                    "undecided       another: the revision has no such contender",
                    "2 cells: 0 worse, 1 same or better, 1 undecided")

    def test_what_breaks_is_named(self):
        write_contender(self.now, "NONSENSE *")
        self.expect(self.guard(), 1, "broken          a cell: own.fake: ended with exit code 1")

    def test_planted_slow_downs_are_found(self):
        write_contender(self.now, USUAL)
        cells = cell() + cell("another")
        self.expect(self.guard("--plant", "8", cells=cells), 0, r"worse .* \(planted\)$",
                    "planted 8 % in 1 cells: 1 found; 0 of the other cells called worse")

    def test_it_is_told_when_they_are_not(self):
        write_contender(self.now, USUAL, obeys=False)
        self.expect(self.guard("--plant", "8"), 3, "planted 8 % in 1 cells: 0 found")

    def test_the_environment_plants_nothing(self):
        write_contender(self.now, USUAL)
        self.expect(self.guard(environment={"HANDOFF_PLANTED_PERCENT": "50"}), 0,
                    "same or better")

    def test_it_says_what_to_build(self):
        cells = cell("a", "own.thread_team") + cell("b", "own.thread_team")
        (self.folder / "cells.toml").write_text(cells)
        done = self.run_lab("guard", "cells.toml", "--targets")
        self.assertEqual((done.returncode, done.stdout),
                         (0, "handoff_probe_limit.fma\nhandoff_spawn_own\n"))

    def test_the_cells_of_the_project_can_be_read(self):
        self.run_lab("guard", SOURCE / "tests" / "guard.toml", "--targets", exit_code=0)

    def test_bad_cells_are_refused(self):
        for text, words in [
                ("", "no [[cell]]"),
                (cell() + 'wdith = 2\n', "unknown key 'wdith'"),
                (cell() + cell(), "cells.toml:6: this cell has the name of another one, 'a cell'"),
                (cell().replace("thread", "claim"), "is 2 cells"),
                (cell(contender="own.thraed_team"), "did you mean 'own.thread_team'?"),
                (cell(contender="peer.std_thread"), "no contender of this library"),
                (cell(contender="own.process_team"), "that does thread"),
                ("".join(cell(str(number)) for number in range(41)), "there is time for 40"),
                (cell(contender="own.thread_team"), "needs --ref"),
        ]:
            with self.subTest(words):
                (self.folder / "cells.toml").write_text(text)
                self.assert_refused("guard", "cells.toml", mentions=[words])
        self.assert_refused("guard", "cells.toml", "--ref", "HEAD", "--within", "1501",
                            mentions=["--within", "1500"])


class Planted(unittest.TestCase):
    """A contender of the build, and what it says of one burst."""

    LEAST_NS = 2_000_000

    def wall_ns(self, **environment):
        ours, theirs = socket.socketpair()
        files = [os.memfd_create(name) for name in ("input", "answer")]
        for file in files:
            os.truncate(file, 8)
        passed = [os.dup(each) for each in (theirs.fileno(), *files)]

        def into_place():
            moved = [os.dup(os.dup2(each, 20 + at)) for at, each in enumerate(passed)]
            for at, each in enumerate(moved):
                os.dup2(each, 3 + at)

        program = Path(PROGRAM).parent / "libexec" / "handoff" / "spawn" / "own"
        running = subprocess.Popen([program, "own.thread_team"], preexec_fn=into_place,
                                   pass_fds=(3, 4, 5), env={**os.environ, **environment})
        theirs.close()
        said = []
        with ours, ours.makefile() as replies:
            for line in ("prepare metric=thread", f"burst {self.LEAST_NS}", "stop"):
                ours.sendall(f"{line}\n".encode())
                said.append(replies.readline().split())
        self.assertEqual(running.wait(60), 0)
        for each in (*files, *passed):
            os.close(each)
        self.assertEqual([words[0] for words in said], ["ready", "done", "stopped"])
        return float(said[1][1])

    def test_a_burst_takes_longer_by_as_much(self):
        # No burst is shorter than the least, nor is what is planted.
        self.assertGreaterEqual(self.wall_ns(HANDOFF_PLANTED_PERCENT="900"), 10 * self.LEAST_NS)
        self.assertGreater(self.wall_ns(), 0)
