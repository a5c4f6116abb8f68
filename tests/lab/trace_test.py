# SPDX-License-Identifier: MIT
"""`handoff trace`, as its user meets it: traces of contenders and of a program of a stranger's hold
what docs/guide/tracing.md promises, Perfetto takes them, and bad input gets one line."""

import bisect
import collections
import gzip
import json
import os
import re
import subprocess
import unittest
import xml.etree.ElementTree
from pathlib import Path

import jsonschema

from lab_support import PROGRAM, SOURCE, LabTest

BUILD = Path(PROGRAM).parent
PERFETTO = json.loads((Path(__file__).parent / "trace_schema.json").read_text())
SUMMARY = json.loads((SOURCE / "lab" / "schema" / "trace-1.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(PERFETTO["items"])
EXAMPLE = [
    {"ph": "M", "name": "process_name", "pid": 9, "tid": 0, "args": {"name": "example"}},
    {"ph": "M", "name": "thread_name", "pid": 9, "tid": 9, "args": {"name": "main"}},
    {"ph": "M", "name": "thread_name", "pid": 9, "tid": 10, "args": {"name": "handoff-pool"}},
    {"ph": "X", "cat": "task", "name": "makes", "pid": 9, "tid": 9, "ts": 1.0, "dur": 5.0},
    {"ph": "X", "cat": "task", "name": "task", "pid": 9, "tid": 10, "ts": 4.5, "dur": 20.0},
    {"ph": "s", "cat": "hand", "name": "hand over", "id": 1, "pid": 9, "tid": 9, "ts": 2.0},
    {"ph": "f", "bp": "e", "cat": "hand", "name": "hand over", "id": 1, "pid": 9, "tid": 10,
     "ts": 4.5},
    {"ph": "X", "cat": "sleep", "name": "wait", "pid": 9, "tid": 9, "ts": 7.0, "dur": 18.0},
    {"ph": "i", "s": "t", "cat": "steal", "name": "steal", "pid": 9, "tid": 10, "ts": 4.0},
    {"ph": "C", "cat": "depth", "name": "pool queue", "pid": 9, "tid": 9, "ts": 2.0,
     "args": {"depth": 3}},
    {"ph": "M", "name": "handoff_tally", "pid": 9, "tid": 0,
     "args": {"recorded": 7, "dropped": 2, "written": 7, "open": 0}},
]


def ns(us):
    return round(us * 1000)


def kind_of(event):
    """Events of one kind need one look at the schema, but for what is different in each."""
    return (event["ph"], event.get("cat"), event["name"], *event, *map(type, event.values()))


def faults_of_schema(events):
    looked_at = collections.Counter()
    for event in events:
        kind = kind_of(event)
        looked_at[kind] += 1
        if looked_at[kind] <= 50:
            for error in VALIDATOR.iter_errors(event):
                yield f"{event}: {error.message}"


def faults_of_times(events):
    last_ns = 0
    for event in events:
        if event.get("ts", 0) < 0 or event.get("dur", 0) < 0:
            yield f"{event}: negative time"
        last_ns = max(last_ns, ns(event.get("ts", 0) + event.get("dur", 0)))
    if last_ns > 600e9:
        yield f"it lasts {last_ns} ns"


def faults_of_lanes(events):
    named = {event["tid"]: event["args"]["name"] for event in events
             if event["ph"] == "M" and event["name"] == "thread_name"}
    for tid in {event["tid"] for event in events if event["ph"] != "M"} - set(named):
        yield f"thread {tid} has no name"


def faults_of_nesting(events):
    by_thread = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            start = ns(event["ts"])
            by_thread[event["tid"]].append((start, -(start + ns(event["dur"])), event["name"]))
    for tid, slices in by_thread.items():
        ends = []
        for start, negative_end, name in sorted(slices):
            while ends and ends[-1] <= start:
                ends.pop()
            if ends and -negative_end > ends[-1]:
                yield f"thread {tid}: {name} at {start} ns reaches out of the slice around it"
                continue
            ends.append(-negative_end)


def covered_by_slices(events):
    """Says of an event whether a slice of its thread lies around it, which began before it, or at
    the same time and further up in the file."""
    by_thread = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            start = ns(event["ts"])
            by_thread[event["tid"]].append((start, start + ns(event["dur"])))
    outermost = {}
    for tid, slices in by_thread.items():
        begins, ends = outermost[tid] = [], []
        for start, end in sorted(slices):
            if not ends or start > ends[-1]:
                begins.append(start)
                ends.append(end)
            ends[-1] = max(ends[-1], end)

    def inside(event, starts):
        begins, ends = outermost.get(event["tid"], ([], []))
        at = ns(event["ts"])
        place = bisect.bisect_right(begins, at) - 1
        if place < 0 or at > ends[place]:
            return False
        return begins[place] < at or (event["tid"], event["ts"]) in starts

    return inside


def faults_of_flows(events):
    """Each has both ends, in the order of time, and Perfetto finds a slice for both: of what
    happens at the same time it reads what stands first in the file."""
    begun, ended, starts = {}, set(), set()
    inside = covered_by_slices(events)
    for event in events:
        if event["ph"] == "X":
            starts.add((event["tid"], event["ts"]))
        elif event["ph"] == "s":
            if event["id"] in begun:
                yield f"flow {event['id']} begins twice"
            begun[event["id"]] = event
            if not inside(event, starts):
                yield f"flow {event['id']} begins in no slice"
        elif event["ph"] == "f":
            if event["id"] not in begun:
                yield f"flow {event['id']} ends without having begun"
                continue
            if event["id"] in ended:
                yield f"flow {event['id']} ends twice"
            ended.add(event["id"])
            if ns(event["ts"]) < ns(begun[event["id"]]["ts"]):
                yield f"flow {event['id']} goes back in time"
            if (event["tid"], event["ts"]) not in starts:
                yield f"flow {event['id']} ends where no slice has begun before it in the file"
    for number in set(begun) - ended:
        yield f"flow {number} has no end"


def faults_of(events):
    return [fault for look in (faults_of_schema, faults_of_times, faults_of_lanes,
                               faults_of_nesting, faults_of_flows) for fault in look(events)]


def changed(place, **values):
    events = [dict(event) for event in EXAMPLE]
    events[place].update(values)
    return events


def without(place):
    return EXAMPLE[:place] + EXAMPLE[place + 1:]


class Canaries(unittest.TestCase):
    """What must be found in a trace is found."""

    def test_a_good_trace_has_no_fault(self):
        self.assertEqual(faults_of(EXAMPLE), [])

    def test_each_fault_is_found(self):
        for words, events in [
                ("has no end", without(6)), ("ends without having begun", without(5)),
                ("negative time", changed(3, ts=-1.0)), ("negative time", changed(3, dur=-1.0)),
                ("less than the minimum", changed(3, dur=-1.0)),
                ("goes back in time", changed(5, ts=5.0)), ("ends twice", EXAMPLE + [EXAMPLE[6]]),
                ("begins twice", EXAMPLE + [EXAMPLE[5]]), ("has no name", without(2)),
                ("no slice has begun", without(4)),
                ("no slice has begun", without(4) + [EXAMPLE[4]]),
                ("begins in no slice", without(3)), ("begins in no slice", changed(5, ts=0.5)),
                ("begins in no slice", without(3) + [changed(3, ts=2.0)[3]]),
                ("reaches out", changed(7, ts=3.0)), ("not valid", changed(3, cat="other")),
                ("not valid", changed(7, name="bored")), ("not valid", changed(9, args={})),
                ("not valid", changed(6, bp="s")), ("it lasts", changed(3, dur=7e8)),
                ("not valid", changed(10, args={"recorded": 1}))]:
            with self.subTest(words=words):
                self.assertTrue([fault for fault in faults_of(events) if words in fault],
                                faults_of(events))


class TraceTest(LabTest):
    def written(self, events=None, name="t.json", end="\n]\n"):
        lines = [json.dumps(event) for event in (EXAMPLE if events is None else events)]
        (self.folder / name).write_text("[\n" + ",\n".join(lines) + end)
        return name

    def summary_of(self, *arguments):
        summary = self.json_of("trace", *arguments)
        jsonschema.validate(summary, SUMMARY)
        return summary

    def assert_right(self, path, summary):
        """A whole trace of this library's, and its summary."""
        events = json.loads(Path(path).read_text())
        self.assertEqual(faults_of(events)[:9], [])
        self.assertTrue(summary["whole"])
        self.assertEqual(summary["events"], len(events))
        self.assertEqual(summary["one_ended"], 0)
        self.assertEqual(summary["tally"], events[-1]["args"])
        self.assertEqual(summary["hand_overs"], sum(event["ph"] == "f" for event in events))
        path = summary["critical_path"]
        self.assertEqual(sum(part["ns"] for part in path["parts"]), path["length_ns"])
        self.assertLessEqual(path["length_ns"] + path["between_ns"], summary["wall_ns"])
        for thread in summary["threads"]:
            self.assertLessEqual(thread["busy_ns"] + thread["asleep_ns"], summary["wall_ns"])
        return events


class Trace(TraceTest):
    def test_the_summary_of_a_trace(self):
        said = self.run_lab("trace", self.written(), exit_code=0)
        first = said.stdout.splitlines()
        self.assertEqual(first[0], "t.json: 24.0 us, 2 threads")
        self.assertIn("critical path 21.0 us", first[2])
        self.assertIn("2 of 9 events were dropped", said.stdout)
        self.assertLessEqual(max(map(len, first)), 100)
        summary = self.summary_of("t.json")
        self.assert_right(self.folder / "t.json", summary)
        self.assertEqual(summary["critical_path"]["hand_overs"], 1)
        self.assertEqual(summary["depths"], {"pool queue": 3})
        self.assertEqual(summary["instants"], {"steal": 1})

    def test_a_file_without_its_end_is_summed_up_and_that_is_said(self):
        self.written(end=",\n")
        self.assertIn("the program was killed, or still runs: 11 whole events were read\n",
                      self.run_lab("trace", "t.json").stdout)
        self.written(end=",\n{\"ph\":\"X\",\"na")
        self.assertIn("11 whole events were read; the last line is torn and left out\n",
                      self.run_lab("trace", "t.json").stdout)

    def test_what_only_ends_is_left_out_and_that_is_said(self):
        self.written([{"ph": "E", "name": "x", "pid": 9, "tid": 9, "ts": 0.5}, *EXAMPLE])
        self.assertIn("left out: 1 slice without a beginning\n",
                      self.run_lab("trace", "t.json").stdout)
        self.assertEqual(self.summary_of("t.json")["unbegun"], 1)

    def test_it_says_what_the_critical_path_is_of_and_what_one_more_worker_does(self):
        said = self.run_lab("trace", self.written()).stdout.splitlines()
        self.assertEqual(said[2], "  critical path 21.0 us, 88 % of the wall time: the longest "
                                  "chain of dependent work")
        self.assertEqual(said[3], "  computed: 21.0 us with its 1 worker, 21.0 us (0.0 % less) "
                                  "with 2, 21.0 us with any number")
        self.assertEqual(said[4], "  as if each worker had a CPU: what the kernel counted is not "
                                  "in the trace")
        self.assertNotIn("more threads do not", "\n".join(said))

    def test_the_time_of_threads_is_told_apart_where_the_kernel_was_asked(self):
        self.assertIn("in slices 52 %, waiting for room 0.0 %, asleep 38 % of the threads' time",
                      self.run_lab("trace", self.written()).stdout)
        times = {"ph": "M", "name": "handoff_times", "pid": 9, "tid": 9,
                 "args": {"cpu_ns": 3000, "ready_ns": 1500}}
        self.written([*EXAMPLE[:-1], times, EXAMPLE[-1]])
        self.assertIn("on a CPU 6.2 %, ready for one 3.1 %, waiting for room 0.0 %, asleep 38 %",
                      self.run_lab("trace", "t.json").stdout)
        main = self.summary_of("t.json")["threads"][0]
        self.assertEqual((main["on_cpu_ns"], main["ready_ns"], main["slept_ns"], main["other_ns"]),
                         (3000, 1500, 18000, 1500))

    def test_flame_graphs_are_pictures(self):
        done = self.run_lab("trace", self.written(), "--flame", "on.svg", "--off-cpu", "off.svg",
                            exit_code=0)
        for name, title in (("on.svg", "task (task): 20.0 us on CPU, 80 % of all, 1 time"),
                            ("off.svg", "wait: 18.0 us asleep, 100 % of all, 1 time")):
            root = xml.etree.ElementTree.parse(self.folder / name).getroot()
            titles = [found.text for found in root.iter("{http://www.w3.org/2000/svg}title")]
            self.assertIn(title, titles)

    def test_bad_input_is_one_line(self):
        self.assert_refused("trace", "none.json", mentions=["none.json", "no such file"])
        self.assert_refused("trace", "taks", mentions=["no file 'taks'", "tasks"])
        self.assert_refused("trace", mentions=["what"])
        for content, *mentions in (
                (b"", "empty is empty", "HANDOFF_TRACE"), (b"#!/bin/sh\n", "no trace", "#!/bin/sh"),
                (gzip.compress(b"[]"), "empty is compressed: gunzip -c empty"),
                (b'[\n{"ph":"X","ts":1}\n]\n', "line 2", "no dur")):
            (self.folder / "empty").write_bytes(content)
            self.assert_refused("trace", "empty", mentions=mentions)

    def test_outputs_are_looked_at_before_the_work(self):
        name = self.written()
        self.assert_refused("trace", name, "-o", "kept", mentions=["scenario"])
        self.assert_refused("trace", name, "--set", "n=1", mentions=["scenario"])
        self.assert_refused("trace", name, "--flame", name, mentions=[name])
        self.assert_refused("trace", name, "--flame", "no/x.svg", mentions=["no/x.svg"])
        self.assert_refused("trace", name, "--flame", "a.svg", "--off-cpu", "./a.svg",
                            mentions=["a.svg", "twice"])
        self.assert_refused("trace", "tasks", "-o", "no/x.json", mentions=["no/x.json"])

    def test_a_full_disk_is_said(self):
        done = self.run_lab("trace", self.written(), "--flame", "/dev/full", exit_code=2)
        self.assertIn("/dev/full: cannot be written: No space left", done.stderr)
        self.assertEqual(self.files(), ["t.json"])

    def test_a_scenario_has_the_contender_and_the_cell_that_are_asked_for(self):
        self.assert_refused("trace", "tasks", "--contender", "own.nothing",
                            mentions=["own.nothing", "tasks"])
        self.assert_refused("trace", "tasks", "--metric", "none", mentions=["none"])
        self.assert_refused("trace", "tasks", "--set", "no=1", mentions=["no"])


class Traced(TraceTest):
    """Real programs."""

    def test_contenders_of_scenarios(self):
        for scenario in ("tasks", "messages", "files"):
            with self.subTest(scenario=scenario):
                kept = self.folder / f"{scenario}.json"
                summary = self.summary_of(scenario, "-o", kept)
                events = self.assert_right(kept, summary)
                self.assertGreater(sum(event["ph"] == "X" for event in events), 10)
                self.assertGreater(summary["critical_path"]["length_ns"], 0)
        self.assertEqual(self.files(), ["files.json", "messages.json", "tasks.json"])

    def test_without_a_name_the_trace_is_not_kept(self):
        done = self.run_lab("trace", "tasks", environment={"TMPDIR": str(self.folder)}, exit_code=0)
        self.assertIn("Along the critical path", done.stdout)
        self.assertEqual(self.files(), [])

    def test_a_contender_of_another_library_has_no_trace(self):
        self.assert_refused("trace", "spawn", "--metric", "thread", "--contender",
                            "peer.std_thread", mentions=["wrote no trace"])

    def stranger(self):
        program = self.folder / "stranger"
        subprocess.run([os.environ["HANDOFF_COMPILER"], "-std=c++20", "-O1", "-I",
                        SOURCE / "include", "-I", BUILD / "include",
                        Path(__file__).parent / "traced_stranger.cpp", BUILD / "libhandoff.a",
                        *re.findall(r"-l(?!handoff)\S+", (BUILD / "handoff.pc").read_text()),
                        "-pthread", "-o", program], check=True)
        return program

    def test_a_bounded_pool_that_is_too_small(self):
        """The program's own thread waits for room, mostly, whether it sleeps or not; the critical
        path is not what two workers make of it; and replay finds the tasks, and nothing else."""
        program = self.stranger()
        traced = {**os.environ, "HANDOFF_TRACE": str(self.folder / "out.json")}
        subprocess.run([program, "bounded"], env=traced, check=True)
        summary = self.summary_of("out.json")
        self.assert_right(self.folder / "out.json", summary)
        self.assertGreater(summary["cpus"], 0)
        main = next(thread for thread in summary["threads"] if thread["name"] == "stranger")
        self.assertIsNotNone(main["on_cpu_ns"])
        self.assertGreater(main["for_room_ns"], main["other_ns"])
        reruns = summary["reruns"]
        self.assertEqual(reruns["workers"], 2)
        self.assertLess(summary["critical_path"]["length_ns"], reruns["as_it_was_ns"] / 2)
        self.assertLess(reruns["one_more_worker_ns"], reruns["as_it_was_ns"])
        self.assertLess(reruns["any_number_of_workers_ns"], reruns["one_more_worker_ns"])
        replayed = self.json_of("replay", "out.json", "--contenders", "limit.serial", "--quick",
                                "--no-probe", exit_code=None)
        self.assertEqual(replayed["trace"]["pieces"], 200)

    def test_a_stranger_and_the_same_one_killed(self):
        program = self.stranger()
        traced = {**os.environ, "HANDOFF_TRACE": str(self.folder / "out.json")}
        done = subprocess.run([program], env=traced, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "500507\n")
        self.assertEqual(done.stderr, "")
        summary = self.summary_of("out.json")
        events = self.assert_right(self.folder / "out.json", summary)
        names = {event["args"]["name"] for event in events
                 if event["ph"] == "M" and event["name"] == "thread_name"}
        self.assertIn("stranger", names)
        self.assertEqual(sum(event["ph"] == "X" and event["cat"] == "task" for event in events),
                         1001 if summary["tally"]["dropped"] == 0 else
                         sum(name["count"] for name in summary["names"]))
        self.assertTrue([thread for thread in summary["threads"] if thread["asleep_ns"] > 0])
        with subprocess.Popen([program, "on"], env=traced, stdout=subprocess.PIPE) as child:
            for _ in range(20):
                child.stdout.readline()
            child.kill()
            child.stdout.close()
        killed = self.summary_of("out.json")
        self.assertFalse(killed["whole"])
        self.assertIsNone(killed["tally"])
        self.assertEqual(killed["one_ended"], 0)
        whole = (self.folder / "out.json").read_text().rsplit("\n", 1)[0].rstrip(",")
        self.assertEqual(faults_of(json.loads(whole + "]"))[:9], [])
