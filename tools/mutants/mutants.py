#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Changes the library's logic in small ways, one at a time, and expects the tests to notice.

  tools/mutants/mutants.py --sample 1500      so many of all rooms, drawn by --seed
  tools/mutants/mutants.py PART...            all of the files whose path has one of these in it
  tools/mutants/mutants.py --show NAME        what a mutant changes, and what became of it

What was tried is not tried again until the programs change: call it again to go on. Fails on a
survivor, in a sample on too many of them, and where the code says `equivalent` of what is killed.
All it writes is below --build.
"""

import argparse
import collections
import hashlib
import json
import math
import os
import random
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import mutate
import trial
from mutate import key_of

ROOT = Path(__file__).resolve().parents[2]
EXPLORER = Path("explore/explore")  # below a build
EQUIVALENT_S = 5  # the budget of what is said to be equivalent: only to see that it may be
SAVE_S = 60  # so often what was recorded is written down

# Whose duty a room's mutants are: the explorer's, PROMISES', and these programs'.
TESTS = {
    "core": ("unit_core", "unit_pool", "unit_team", "conformance_executors",
             "conformance_bulks"),  # futures and loops do their work on a pool and on a team
    "sync": ("unit_sync", "stress_event_count"),
    "memory": ("unit_memory", "unit_event", "unit_command", "stress_callback_list",
               "stress_event_queue", "stress_command"),
    "queue": ("unit_queue", "model_tests", "conformance_rings", "conformance_channels"),
    "team": ("unit_team", "conformance_executors", "conformance_bulks"),
    "pool": ("unit_pool", "model_tests", "stress_thread_pool", "conformance_executors",
             "conformance_bulks"),
    "event": ("unit_event", "stress_callback_list", "stress_event_queue", "conformance_deferred"),
    "graph": ("unit_graph", "stress_graph"),
    "bus": ("unit_bus", "model_tests", "stress_message_bus", "stress_message_workers",
            "stress_broadcast", "conformance_broadcasts", "conformance_deferred"),
    "command": ("unit_command", "model_tests", "stress_command"),
    "file": ("unit_file", "model_tests", "fault_files", "fault_kills", "fault_limits",
             "fault_power_loss", "stress_append_log", "stress_file_engine"),
    "process": ("unit_process", "stress_process", "conformance_shared_rings"),
    "trace": ("unit_trace",),
    "probe": ("unit_trace",),
}
# What types of several rooms promise alike.
PROMISES = ("conformance_closes", "conformance_closes_engines", "conformance_refusals",
            "conformance_reentry")
SHARES = (  # what must hold of a sample: (what, at least)
    ("killed of those not equivalent", 0.97),
    ("not by time-out of those killed", 0.85),
    ("by the explorer in files with orders", 0.85),
    ("not equivalent", 0.90),
)


def say(text=""):
    print(text, flush=True)


class Progress:
    """A moving line on a terminal, a line a minute elsewhere."""

    def __init__(self, what, total):
        self.what, self.total, self.done = what, total, 0
        self.begin, self.said = time.monotonic(), 0.0
        self.counts = collections.Counter()

    def add(self, verdict):
        self.done += 1
        self.counts[verdict] += 1
        now = time.monotonic()
        terminal = sys.stderr.isatty()
        if now - self.said < (0.2 if terminal else 60) and self.done != self.total:
            return
        self.said = now
        left = (now - self.begin) / self.done * (self.total - self.done)
        text = ", ".join(f"{count} {what}" for what, count in sorted(self.counts.items()))
        line = f"{self.what}: {self.done} of {self.total}, {text}, {left / 60:.0f} min left"
        end = "" if terminal and self.done != self.total else "\n"
        print(f"\r\033[K{line[:110]}" if terminal else line, end=end, file=sys.stderr, flush=True)


# Which.

def draw(mutants, count, seed):
    """So many of them; each file has its share, and at least one.

    A hash decides, so that a change of one function draws no others elsewhere."""
    files = collections.defaultdict(list)
    for mutant in mutants:
        files[mutant.file].append(mutant)
    exact = {file: count * len(those) / len(mutants) for file, those in files.items()}
    share = {file: min(len(files[file]), max(1, math.floor(part)))
             for file, part in exact.items()}
    for file in sorted(files, key=lambda file: (share[file] - exact[file], file)):
        if sum(share.values()) < count and share[file] < len(files[file]):
            share[file] += 1

    def rank(mutant):
        return hashlib.sha1(f"{seed} {key_of(mutant.name)}".encode()).digest()
    return [mutant for file, those in sorted(files.items())
            for mutant in sorted(those, key=rank)[:share[file]]]


def state_of_sources():
    """A hash of all that mutants are made of."""
    state = hashlib.sha1()
    paths = [path for folder in ("include", "src") for path in sorted((ROOT / folder).rglob("*"))
             if path.is_file()]
    paths += [mutate.HOME / name for name in ("mutate.py", "mutant.hpp", "mutant.inc")]
    for path in paths:
        state.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return state.hexdigest()


def make_mutants(folder):
    """All there are, and their copy of the library; as they were made last if nothing changed."""
    path, state = folder / "mutants.json", state_of_sources()
    stored = json.loads(path.read_text()) if path.exists() else {}
    if stored.get("state") == state:
        return [mutate.Mutant(**entry) for entry in stored["mutants"]]
    mutants, texts = mutate.mutate(ROOT, processes=jobs())
    mutate.write_tree(ROOT, folder / "tree", texts)
    path.write_text(json.dumps({"state": state, "mutants": [asdict(m) for m in mutants]}, indent=0))
    return mutants


# Building.

def jobs():
    return len(os.sched_getaffinity(0))


def call(command, log):
    with log.open("ab") as out:
        out.write((shlex.join(command) + "\n").encode())
        out.flush()
        code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                              check=False).returncode
    if code != 0:
        sys.stderr.write(log.read_text(errors="replace")[-6000:])
        raise SystemExit(f"mutants: `{shlex.join(command[:4])} ...` failed; all of it is in {log}")


def build_in(folder, name, flags, programs):
    """Configures and builds the programs against the copy."""
    tree, output, log = folder / "tree", folder / name, folder / "build.log"
    call(["cmake", "-S", str(tree), "-B", str(output), "-G", "Ninja",
          "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_COMPILER=clang++-19",
          *flags,
          "-DCMAKE_CXX_FLAGS=-w -fsanitize=return -fsanitize-trap=return "
          f"-include {tree / 'mutant.hpp'}",
          "-DHANDOFF_LAB=OFF", "-DHANDOFF_EXAMPLES=OFF", "-DHANDOFF_TEST_PEERS=OFF",
          "-DHANDOFF_INSTALL=OFF", "-DHANDOFF_COPY=OFF",
          "-DPython3_ROOT_DIR=/usr"], log)
    call(["cmake", "--build", str(output), "--parallel", str(jobs()), "--target", *programs], log)


def build(folder, rooms):
    """The programs of these rooms; their paths. The explorer is no use without optimisation; the
    tests are built faster than they run, and look for leaks and for memory used too late."""
    tests = sorted({*PROMISES, *(name for room in rooms for name in TESTS[room])})
    (folder / "build.log").write_bytes(b"")
    build_in(folder, "explorer", ["-DCMAKE_CXX_FLAGS_RELEASE=-O1"], [EXPLORER.name])
    build_in(folder, "tests", ["-DCMAKE_CXX_FLAGS_RELEASE=-O0", "-DHANDOFF_SANITIZE=address"],
             tests)
    return [str(folder / "explorer" / EXPLORER),
            *(str(folder / "tests" / "tests" / name.split("_")[0] / name) for name in tests)]


def record_all(folder, programs, count, workers, until):
    """The cases of each program with what they pass; none is begun after `until`.

    Also lines about those that fail, which nothing is tried with, and how many were too late."""
    digests = {program: trial.digest(program) for program in programs}
    path = folder / "record.json"
    records = trial.load_records(path, digests)
    for program in programs:
        if program not in records:
            records[program] = trial.cases_of(program)
    todo = [case for cases in records.values() for case in cases if not case.recorded()]
    progress, saved = Progress("cases without a mutant", len(todo)), time.monotonic()

    def one(case):
        if time.monotonic() > until:
            return None
        fault = trial.record(case, count)
        progress.add("failed" if fault else "passed")
        return fault
    told = []
    with ThreadPoolExecutor(workers) as pool:
        for line in pool.map(one, todo):
            told.append(line)
            if time.monotonic() - saved > SAVE_S:
                saved = time.monotonic()
                trial.save_records(path, records, digests)
    trial.save_records(path, records, digests)
    return records, digests, [line for line in told if line], told.count(None)


# Trying them.

class Trials:
    """Mutants, the cases that pass them, and what became of them: a line each in results.jsonl,
    which also tells what killed each last, and so what to try first."""

    def __init__(self, folder, mutants, records, digests):
        self.path = folder / "results.jsonl"
        self.digests = {Path(program).name: digest for program, digest in digests.items()}
        self.duty = {room: {EXPLORER.name, *PROMISES, *names} for room, names in TESTS.items()}
        self.killers = {}
        self.hints = collections.defaultdict(list)
        self.passing = collections.defaultdict(list)
        rooms = {mutant.number: mutant.room for mutant in mutants}
        for program, cases in records.items():
            for case in cases:
                for number in case.hits:
                    if number in rooms and Path(program).name in self.duty[rooms[number]]:
                        self.passing[number].append(case)
        self.results = {key_of(result["name"]): result for result in self.read()}

    def read(self):
        for result in read_results(self.path):
            if result["verdict"] == "killed":
                self.learn(result)
            yield result

    def learn(self, result):
        """What killed a mutant is tried first next time, and early on its neighbours."""
        self.killers[key_of(result["name"])] = result["killer"]
        neighbours = self.hints[place_of(result["name"])]
        if result["killer"] in neighbours:
            neighbours.remove(result["killer"])
        neighbours.insert(0, result["killer"])

    def left_for(self, mutant):
        """Programs that it has not survived yet, or not for so long; none for what is killed."""
        result = self.results.get(key_of(mutant.name))
        duty = self.duty[mutant.room] & set(self.digests)
        if result is None:
            return duty
        if result["verdict"] == "killed":
            same = result["digest"] == self.digests.get(result["killer"].split()[0])
            return set() if same else duty
        if result["budget_s"] < budget_of(mutant):
            return duty
        return {name for name in duty if result["programs"].get(name) != self.digests[name]}

    def run(self, mutants, workers, until):
        """Tries those that are left, none that is not begun by `until`: [(mutant, result)]."""
        todo = [(mutant, programs) for mutant in mutants if (programs := self.left_for(mutant))]
        say(f"{len(mutants) - len(todo)} were tried before with the same programs")
        late = {key_of(mutant.name) for mutant, _ in todo}
        progress = Progress("mutants", len(todo))

        def one(job):
            if time.monotonic() > until:
                return
            result = self.try_one(*job)
            with self.path.open("a") as out:
                out.write("\n" + json.dumps(result))
            key = key_of(result["name"])
            self.results[key] = result
            late.discard(key)
            progress.add(result["verdict"])
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, todo))
        return [(mutant, self.results[key_of(mutant.name)]) for mutant in mutants
                if key_of(mutant.name) not in late]

    def try_one(self, mutant, programs):
        passing = self.passing[mutant.number]
        result = trial.try_mutant(
            mutant, [case for case in passing if Path(case.program).name in programs],
            self.hints[place_of(mutant.name)][:2], budget_of(mutant),
            remembered=self.killers.get(key_of(mutant.name)))
        if result["verdict"] == "killed":
            self.learn(result)
            result["digest"] = self.digests[result["killer"].split()[0]]
        else:
            result["verdict"] = "survived" if passing else "not reached"
            result["budget_s"] = budget_of(mutant)
            result["programs"] = {name: self.digests[name] for name in self.duty[mutant.room]
                                  if name in self.digests}
        return result

    def canaries(self, canaries):
        """One that must be killed and one that must survive: faults of the runner."""
        pairs = collections.defaultdict(dict)
        for canary in canaries:
            pairs[canary.file][canary.operator] = canary
        passed = [pair for pair in pairs.values()
                  if all(self.passing[canary.number] for canary in pair.values())]
        if not passed:
            return ["no case passes a canary"]
        pair = min(passed, key=lambda pair: sum(
            case.seconds for case in self.passing[pair["canary_harmless"].number]))
        faults = []
        for operator, wanted in (("canary_fatal", "killed"), ("canary_harmless", "survived")):
            canary = pair[operator]
            got = trial.try_mutant(canary, self.passing[canary.number], [])["verdict"]
            say(f"{operator} in {canary.file}: {got}")
            if got != wanted:
                faults.append(f"{operator} {got}: the runner is not to be believed")
        return faults


def budget_of(mutant):
    return EQUIVALENT_S if mutant.equivalent else trial.BUDGET_S


def place_of(name):
    """File and function, which stay when the function changes."""
    return " ".join(name.split()[1:-1])


def read_results(path):
    """Each line; one that a run was ended in the middle of is left out."""
    for line in path.read_text().splitlines() if path.exists() else ():
        if line.endswith("}"):
            yield json.loads(line)


# Telling.

def table(rows, key):
    """Counts by what `key` says of a mutant, as lines of Markdown."""
    groups = collections.defaultdict(collections.Counter)
    for mutant, result in rows:
        for group in (key(mutant), "all"):
            counts = groups[group]
            counts["tried"] += 1
            counts[result["verdict"]] += 1
            counts["late"] += result.get("how") in ("time-out", "memory")
            counts["explorer"] += bool(result.get("by_explorer"))
            counts["equivalent"] += is_equivalent(mutant, result)
    yield "|  | tried | killed | by the explorer | by time-out | equivalent | survived | share |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, c in sorted(groups.items(), key=lambda group: (group[0] == "all", group[0])):
        counted = c["tried"] - c["equivalent"]
        yield (f"| {name} | {c['tried']} | {c['killed']} | {c['explorer']} | {c['late']} | "
               f"{c['equivalent']} | {counted - c['killed']} | "
               f"{100 * c['killed'] / max(1, counted):.1f} % |")


def is_equivalent(mutant, result):
    return bool(mutant.equivalent) and result["verdict"] != "killed"


def shares(rows):
    """The figures of a sample, in the order of SHARES."""
    killed = [result for _, result in rows if result["verdict"] == "killed"]
    late = sum(result["how"] in ("time-out", "memory") for result in killed)
    counted = [(m, r) for m, r in rows if not is_equivalent(m, r)]
    orders = [r for m, r in counted if m.orders]
    return (len(killed) / max(1, len(counted)),
            1 - late / max(1, len(killed)),
            sum(bool(r.get("by_explorer")) for r in orders) / max(1, len(orders)),
            len(counted) / max(1, len(rows)))


def survivors_of(rows):
    return [(m, r) for m, r in rows if r["verdict"] != "killed" and not m.equivalent]


def report(rows):
    """Markdown: tables, and for each survivor what a test has to notice."""
    yield from ("# Mutants by room", "", *table(rows, lambda mutant: mutant.room), "",
                "# Mutants by operator", "", *table(rows, lambda mutant: mutant.operator), "",
                "# Survivors", "")
    for mutant, result in sorted(survivors_of(rows), key=lambda row: (row[0].file, row[0].line)):
        why = "no case passes it" if result["verdict"] == "not reached" else "no case notices it"
        yield (f"- `{mutant.file}:{mutant.line}` {mutant.function}: {mutant.operator} "
               f"`{mutant.text}`; {why} (`HANDOFF_MUTANT={mutant.number}`)")


def wrong_equivalents(rows, everything):
    """Comments of whose mutants each was tried and killed."""
    left = collections.Counter(said_of(mutant) for mutant in everything if mutant.equivalent)
    last = {}
    for mutant, result in rows:
        if mutant.equivalent and result["verdict"] == "killed":
            left[said_of(mutant)] -= 1
            last[said_of(mutant)] = mutant, result
    return [f"said to be equivalent, but killed by {result['killer']}: "
            f"{mutant.file}:{mutant.line} {mutant.name}"
            for said, (mutant, result) in sorted(last.items()) if left[said] == 0]


def said_of(mutant):
    return mutant.file, mutant.function, mutant.operator, mutant.equivalent


def faults_of(rows, everything, sampled):
    """Lines about what does not hold; shares only of a sample, as they are of all rooms."""
    faults = wrong_equivalents(rows, everything)
    for (what, least), share in zip(SHARES, shares(rows)):
        text = f"{what}: {100 * share:.1f} %, at least {100 * least:.0f} %"
        say(text)
        if sampled and share < least:
            faults.append(text)
    if not sampled:
        faults += [f"{result['verdict']}: {mutant.file}:{mutant.line} {mutant.name}"
                   for mutant, result in survivors_of(rows)]
    return faults


def show(folder, part):
    """Prints the mutants whose name has this in it, and their last results."""
    results = {key_of(result["name"]): result for result in read_results(folder / "results.jsonl")}
    for mutant in make_mutants(folder):
        if part in mutant.name:
            said = f"\n  equivalent: {mutant.equivalent}" if mutant.equivalent else ""
            say(f"{mutant.name}\n  {mutant.file}:{mutant.line}: {mutant.text}{said}\n  "
                f"HANDOFF_MUTANT={mutant.number}  {results.get(key_of(mutant.name), 'not tried')}")
    return 0


def arguments_of(words):
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="part of the paths of the files")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--sample", type=int, metavar="N", help="so many, a share of each file")
    parser.add_argument("--seed", default="1", help="what decides which are drawn")
    parser.add_argument("--minutes", type=float, default=math.inf,
                        help="begin no case later; the next call goes on")
    parser.add_argument("--jobs", type=int, default=jobs())
    parser.add_argument("--show", metavar="NAME", help="a part of a mutant's name")
    return parser.parse_args(words)


def main(words):
    arguments = arguments_of(words)
    folder = arguments.build.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if arguments.show:
        return show(folder, arguments.show)
    trial.set_limits()
    begin = time.monotonic()
    until = begin + 60 * arguments.minutes

    def stage(text):
        say(f"{text} after {(time.monotonic() - begin) / 60:.1f} min")
    everything = make_mutants(folder)
    mutants = [mutant for mutant in everything if not mutate.is_canary(mutant)
               and mutate.is_of(mutant.file, arguments.parts)]
    stage(f"{len(mutants)} mutants made")
    if not mutants:
        raise SystemExit("mutants: no file whose path has this in it has any")
    if arguments.sample is not None:
        mutants = draw(mutants, arguments.sample, arguments.seed)
        say(f"{len(mutants)} of them drawn by seed {arguments.seed}")
    random.Random(arguments.seed).shuffle(mutants)
    programs = build(folder, {mutant.room for mutant in mutants})
    stage("built")
    last = max(mutant.number for mutant in everything)
    records, digests, faults, late = record_all(folder, programs, last, arguments.jobs, until)
    stage("recorded")
    if late:
        stage(f"{late} cases are left, the next call goes on: ended")
        return 0
    trials = Trials(folder, everything, records, digests)
    faults += trials.canaries([mutant for mutant in everything if mutate.is_canary(mutant)])
    rows = trials.run(mutants, arguments.jobs, until)
    text = list(report(rows))
    (folder / "survivors.md").write_text("\n".join(text) + "\n")
    say("\n".join(text[:text.index("# Survivors")]))
    if len(rows) < len(mutants):
        stage(f"{len(rows)} of {len(mutants)} tried, the next call goes on: ended")
        return 0
    faults += faults_of(rows, everything, arguments.sample is not None and not arguments.parts)
    for line in faults:
        say(f"FAULT: {line}")
    stage(f"{len(rows)} mutants, {len(survivors_of(rows))} survivors in {folder}/survivors.md, "
          f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
