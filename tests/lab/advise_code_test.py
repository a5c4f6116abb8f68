# SPDX-License-Identifier: MIT
"""Each line of code that advise prints compiles where the names it leaves open are declared: all
of them as one source file. Each way of this library has such a line."""

import json
import os
import subprocess
from pathlib import Path

from lab_support import PROGRAM, SOURCE, LabTest
from synthetic_results import environment, row

# What the lines leave to their reader: the work, its data, and things that the program has already.
BEFORE = """
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <eventpp/eventqueue.h>
#include <handoff/handoff.hpp>
#include <handoff/mpi/rank_team.hpp>
#include <handoff/process/shared_ring.hpp>

struct Anything {
  void operator()(auto&&...) const {}
};
struct Event {};
struct A {};
struct B {};
struct Args {};
struct Backend {};
struct List {};
struct OnA {
  void operator()(const A&) const {}
};
struct OnB {
  void operator()(const B&) const {}
};
Anything f;
OnA on_a;
OnB on_b;
void kernel(handoff::IndexRange, const Args&) {}
int job(const int&) { return 0; }
int main() {
  handoff::ThreadPool pool;
  handoff::IndexRange range{0, 2};
  std::size_t n = 2;
  int key = 0, argument = 0;
  Event event;
  A a;
  Args args;
  Backend backend;
  std::vector<List> lists(2);
  std::span<std::byte> bytes;
  auto memory = handoff::SharedMemory::create({.bytes = 4096});
"""


def rows_of(entry):
    """As if it had been measured, in each cell that advice looks for."""
    def cell(metric, better="lower", **parameters):
        more = {"order": entry["order"]} if entry["order"] else {}
        return row(entry["name"], [[100.0]], scenario=entry["scenario"], metric=metric, unit="",
                   better=better, parameters=parameters, **more)

    def grain(unit):
        curve = [[size, size / (size + 20)] for size in (10, 100, 1000)]
        return {**cell("metg50", unit=unit, width=2), "curves": {"efficiency": curve}}

    def loads():
        return [{**cell("time", seed=1, draw=draw, width=2), "items_per_op": 100,
                 "figures": {"by_index": by_index, "waves": 1, "fan_out": 0, "by_memory": 0,
                             "largest": 1, "kinds": 1}}
                for by_index in (0, 1) for draw in range(by_index * 12, by_index * 12 + 12)]

    def processes():
        if entry["name"].endswith(".claims"):
            return [cell("claim", rows=256, width=2)]
        return [cell("jobs", better="higher")] if entry["name"] == "own.process_pool" else []

    make = {"grain": lambda: [grain("task"), grain("index")],
            "forkjoin": lambda: [cell("ns_per_fork", problem="fib", width=2)],
            "loads": loads,
            "spawn": processes,
            "events": lambda: [cell("throughput", producers=1)],
            "messages": lambda: [cell("throughput", producers=1, consumers=1, bytes=72,
                                      publish="single", consumer="spins")],
            "processes": lambda: [cell("throughput", better="higher", bytes=72)],
            "commands": lambda: [cell("command", threads=1, calls=40000)],
            "files": lambda: [cell("file", files=200, durable=0)]}
    return make[entry["scenario"]]() if entry["scenario"] in make else []


# Contenders whose rows no question asks for, though their room has ways.
OTHERS = {"own.append_log", "own.copy", "own.broadcast", "own.serial", "own.pool",
          "own.thread_team.claims", "own.rank_team.claims"}
QUESTIONS = [
    ({"grain", "spawn"}, ("--unit", "task")), ({"grain", "spawn"}, ("--unit", "index")),
    ({"loads"}, ("--unit", "task")), ({"loads"}, ("--unit", "index")),
    ({"forkjoin"}, ("--nesting", "tasks")), ({"events", "messages"}, ("--unit", "event")),
    ({"messages"}, ("--unit", "message")), ({"commands"}, ("--unit", "command")),
    ({"processes"}, ("--unit", "message", "--isolation", "processes")),
    ({"spawn"}, ("--isolation", "processes")), ({"files"}, ("--unit", "file"))]


class AdviseCode(LabTest):
    def lines(self):
        """Each line, by what advise said it of: a way, and the question."""
        built = Path(PROGRAM).parent / "libexec" / "handoff" / "contenders.json"
        entries = [entry for entry in json.loads(built.read_text())["contenders"]
                   if entry["name"].startswith("own.") and entry["name"] not in OTHERS
                   or entry["scenario"] == "files" and entry["name"] == "own.pool"
                   or entry["scenario"] == "loads" and entry["name"] == "own.serial"]
        found = {}
        for rooms, question in QUESTIONS:
            rows = [one for entry in entries if entry["scenario"] in rooms
                    for one in rows_of(entry)]
            self.write("rows.json", {"schema": 1, "environment": environment(), "rows": rows})
            done = self.run_lab("advise", "rows.json", "--grain", "1us", "--count", "100",
                                *question, "--json")
            self.assertEqual(done.returncode, 0, (question, done.stderr))
            for way in json.loads(done.stdout)["ways"]:
                self.assertNotEqual(way["code"], "", (question, way["name"]))
                self.assertNotEqual(way["call"], "", (question, way["name"]))
                found[way["name"], question] = way["code"]
        return found

    def compiled(self, before, lines):
        text = before + "".join(f"  {{\n    {line}\n  }}\n" for line in lines) + "}\n"
        (self.folder / "lines.cpp").write_text(text)
        return subprocess.run(
            [os.environ["HANDOFF_COMPILER"], "-std=c++20", "-fsyntax-only", "-I",
             SOURCE / "include", "-I", SOURCE / "compat", "-I", Path(PROGRAM).parent / "include",
             self.folder / "lines.cpp"],
            capture_output=True, text=True)

    def test_each_line_compiles(self):
        found = self.lines()
        for name in ("own.events", "own.process_team", "own.bucket", "own.io_uring",
                     "own.shared_byte_ring", "own.event", "own.pool.cached", "here"):
            self.assertIn(name, {way for way, _ in found})
        lines = sorted(set(found.values()))
        done = self.compiled(BEFORE, lines)
        self.assertEqual(done.returncode, 0, done.stderr[:20000])

    def test_a_line_that_does_not_compile_is_found(self):
        before = "#include <handoff/team/thread_team.hpp>\nint main() {\n"
        self.assertEqual(self.compiled(before, ["handoff::ThreadTeam team;"]).returncode, 0)
        self.assertNotEqual(self.compiled(before, ["handoff::ThreadTeam team; team.walk();"])
                            .returncode, 0)
