# SPDX-License-Identifier: MIT
"""Where the code of contenders lies: their shared work at one place for all of them, their own code
at every place of a cache line among the layouts that launches draw from."""

import functools
import json
import os
import re
import subprocess
from collections import defaultdict
from pathlib import Path

from lab_support import CELL, NO_TIME, PROGRAM, SMALL, LabTest, whole_lab

BUILD = Path(PROGRAM).parent
LIBEXEC = BUILD / "libexec" / "handoff"
PAGE = 4096
# What contenders execute as the work, and what each of them must not have a copy of.
WORK = {"libhandoff_matmul_kernels.so": "handoff::lab::matmul::row_kernel(",
        "libhandoff_peers_work.so": "handoff::lab::peers::burn("}
EQUAL_WAYS = ("own.thread_team", "own.pool", "peer.openmp", "peer.onetbb")


def listed(name):
    """(scenario, contender): its executables, of those that a list says are built."""
    entries = json.loads((LIBEXEC / name).read_text())["contenders"]
    return {(entry["scenario"], entry["name"]): [LIBEXEC / path for path in entry["executable"]]
            for entry in entries if entry["executable"]}


@functools.cache
def all_functions():
    """Of each program and library of the build the functions of the lab that it defines, and its
    `main`: the places of all that have the name."""
    programs = {path for name in ("contenders.json", "canaries.json")
                for executables in listed(name).values() for path in executables}
    programs |= {LIBEXEC / "lib" / library for library in WORK}
    names = subprocess.run(["nm", "-A", "-C", "--defined-only", *programs], check=True, text=True,
                           capture_output=True).stdout
    found = {program: defaultdict(set) for program in programs}
    for program, place, name in re.findall(
            r"^(.+?):([0-9a-f]{16}) [tTwW] (main|.*handoff::lab::.*)$", names, re.MULTILINE):
        found[Path(program)][name].add(int(place, 16))
    return found


def functions(program):
    return all_functions()[program]


def loaded(program):
    """What the dynamic linker loads for it: the file and where its first byte lies, by name."""
    told = subprocess.run([program], check=True, text=True, capture_output=True,
                          env={"LD_TRACE_LOADED_OBJECTS": "1"}).stdout
    found = re.findall(r"^\s*(\S+) => (.+) \(0x([0-9a-f]+)\)$", told, re.MULTILINE)
    return {name: (Path(path).resolve(), int(address, 16)) for name, path, address in found}


class SharedWork(LabTest):
    def test_lies_at_the_same_place_of_a_page_for_all(self):
        users = defaultdict(set)
        for (scenario, name), executables in listed("contenders.json").items():
            for executable in executables:
                for library, (path, address) in loaded(executable).items():
                    if library not in WORK:
                        continue
                    self.assertEqual(path, LIBEXEC / "lib" / library)  # one file: one offset in it
                    self.assertEqual(address % PAGE, 0)
                    users[library].add((scenario, name))
        self.assertLessEqual({("matmul", name) for name in EQUAL_WAYS},
                             users["libhandoff_matmul_kernels.so"])
        scenarios = ("tasks", "grain", "graph", "loads", "replay")
        pools = {key for key in listed("contenders.json") if key[0] in scenarios}
        self.assertEqual(users["libhandoff_peers_work.so"], pools)

    def test_nobody_has_a_copy_of_it(self):
        copies = []
        for (scenario, name), executables in listed("contenders.json").items():
            defined = functions(executables[0])
            self.assertIn("main", defined)
            copies += [(scenario, name, function) for function in defined
                       if function.startswith(tuple(WORK.values()))]
        self.assertEqual(copies, [])

    def test_its_functions_begin_at_cache_lines(self):
        for library, work in WORK.items():
            defined = functions(LIBEXEC / "lib" / library)
            self.assertTrue(any(name.startswith(work) for name in defined), library)
            for name, places in defined.items():
                if "handoff::lab::" not in name or "[clone" in name:
                    continue
                with self.subTest(library=library, function=name):
                    self.assertEqual({place % 64 for place in places}, {0})


class Layouts(LabTest):
    def assert_moved(self, executables):
        """The same code in each, moved by multiples of 16, once to every place of a cache line."""
        places = [functions(executable) for executable in executables]
        names = {name for name, at in places[0].items()
                 if len(at) == 1 and (name == "main" or "handoff::lab::" in name)}
        self.assertIn("main", names)
        moved = []
        for name in names:
            lines = {next(iter(at[name])) % 64 for at in places}
            if len(lines) == 4 and len({place % 16 for place in lines}) == 1:
                moved.append(name)
        self.assertEqual(sorted(names), sorted(moved))
        return {next(iter(at["main"])) % PAGE for at in places}

    @whole_lab
    def test_a_contenders_code_begins_at_every_place_of_a_cache_line(self):
        for (scenario, name), executables in listed("contenders.json").items():
            if scenario == "probe":
                continue
            with self.subTest(scenario=scenario, contender=name):
                self.assertEqual(len(self.assert_moved(executables)), 4)

    @whole_lab
    def test_a_canarys_code_lies_where_its_contenders_never_does(self):
        contenders = listed("contenders.json")
        canaries = listed("canaries.json")
        self.assertEqual(sorted(scenario for scenario, _ in canaries),
                         ["algorithms", "channels", "commands", "events", "forkjoin", "grain",
                          "matmul", "tasks"])
        for key, executables in canaries.items():
            with self.subTest(canary=key):
                places = self.assert_moved(executables)
                self.assertEqual(len(places), 4)
                self.assertFalse(places & self.assert_moved(contenders[key]))


class Draws(LabTest):
    def layouts_of(self, seed):
        result = self.result_of(*CELL, "--launches", "4", *NO_TIME, "--seed", str(seed),
                                "--contenders", "own.thread_team,seed.single")
        return {row["contender"]: row["layouts"] for row in result["rows"]}

    @whole_lab
    def test_each_launch_has_its_layout_and_the_result_says_which(self):
        drawn = self.layouts_of(1)
        for layouts in drawn.values():
            self.assertEqual(sorted(layout["link"] for layout in layouts), [0, 1, 2, 3])
            shifts = {layout["stack_shift"] for layout in layouts}
            self.assertEqual(len(shifts), 4)
            self.assertLess(max(shifts), PAGE)
        self.assertNotEqual(drawn["own.thread_team"], drawn["seed.single"])
        self.assertEqual(self.layouts_of(1), drawn)
        self.assertNotEqual(self.layouts_of(2), drawn)

    def test_the_program_of_the_drawn_layout_is_started(self):
        """One of two layouts is a program that cannot run."""
        entry = {"scenario": "matmul", "name": "peer.odd", "package": "", "when": {},
                 "executable": [str(LIBEXEC / "matmul" / "seed"), "gone"],
                 "argument": "seed.single"}
        self.write("more.json", {"contenders": [entry]})
        seen = set()
        for seed in range(8):
            done = self.run_lab(*SMALL, *NO_TIME, "--seed", str(seed), "--manifest", "more.json",
                                "--contenders", "peer.odd", "--json")
            row = json.loads(done.stdout)["rows"][0]
            seen.add(row["status"])
            if row["status"] == "ok":
                self.assertEqual([layout["link"] for layout in row["layouts"]], [0])
            else:
                self.assertIn("No such file", row["reason"])
                self.assertEqual(row["layouts"], [])
        self.assertEqual(seen, {"ok", "failed"})


class Installed(LabTest):
    @whole_lab
    def test_the_lab_finds_its_shared_work_wherever_it_is(self):
        subprocess.run(["cmake", "--install", BUILD, "--component", "lab", "--prefix",
                        self.folder / "first"], check=True, capture_output=True)
        moved = (self.folder / "first").rename(self.folder / "moved here")
        contender = moved / "libexec" / "handoff" / "matmul" / "seed.layout3"
        work = "libhandoff_matmul_kernels.so"
        self.assertEqual(loaded(contender)[work][0],
                         moved.resolve() / "libexec" / "handoff" / "lib" / work)
        self.assertTrue((moved / "libexec" / "handoff" / "canaries.json").exists())
        done = subprocess.run([moved / "bin" / "handoff", *SMALL, *NO_TIME, "--contenders",
                               "seed.single"], cwd=self.folder, text=True, capture_output=True,
                              env={"PATH": os.environ["PATH"]})
        self.assertEqual(done.returncode, 0, done.stderr)
