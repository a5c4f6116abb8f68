#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Changes the library's logic in small ways, one at a time, and expects the tests to notice.

  tools/mutants/mutants.py                    every mutant there is; goes on where it was stopped
  tools/mutants/mutants.py PART...            of files whose path has one of these in it
  tools/mutants/mutants.py --new              of those, what no list knows
  tools/mutants/mutants.py --sample           of one room, for a minute or two; all in a deep run
  tools/mutants/mutants.py --show NAME        what a mutant changes, and what became of it

Fails on a mutant that survives and is not in tests/mutants/known.list, on a line there that is not
needed, and where a share of docs/design/mutants.md is not kept. All it writes is below --build.
"""

import argparse
import collections
import json
import os
import random
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mutate
import trial
from memory import Memory, key_of, place_of

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tests" / "mutants" / "known.list"
KILLERS = ROOT / "tests" / "mutants" / "killers.list"
LISTED_S = 5  # the budget of what is known to survive: it lived through all of it before
REMEMBER_S = 60  # so often what was learnt is written down
SAMPLE_S = 70  # with what it builds, where nothing else runs;
SAMPLE_RECORD_S = 10  # of this, cases without a mutant;
SAMPLE_LEAST_S = 20  # this much for the trials in any case
SAMPLE_MIN = 12  # and so many, however long they take: fewer say nothing

# Whose duty a room's mutants are: the explorer's and these programs'.
TESTS = {
    "core": ("unit_core", "unit_pool", "unit_team", "conformance_executors",
             "conformance_bulks"),  # futures and loops do their work on a pool and on a team
    "sync": ("unit_sync", "stress_event_count"),
    "memory": ("unit_memory", "unit_event", "unit_command", "stress_callback_list",
               "stress_event_queue", "stress_command"),
    "queue": ("unit_queue", "model_tests", "conformance_rings", "conformance_channels"),
    "team": ("unit_team", "stress_thread_team", "conformance_executors", "conformance_bulks"),
    "pool": ("unit_pool", "model_tests", "stress_thread_pool", "conformance_executors",
             "conformance_bulks"),
    "event": ("unit_event", "stress_callback_list", "stress_event_queue",
              "conformance_deferred"),
    "bus": ("unit_bus", "model_tests", "stress_message_bus", "stress_message_workers",
            "stress_broadcast", "conformance_broadcasts", "conformance_deferred"),
    "command": ("unit_command", "model_tests", "stress_command"),
}
# Whose scenarios a sample builds; a whole run builds all.
SCENARIOS = {"memory": ("memory", "event", "command")}
SHARES = (  # what must hold of a whole run: (what, at least)
    ("mutants", 1500),
    ("killed of those not equivalent", 0.97),
    ("not by time-out of those killed", 0.85),
    ("by the explorer in files with orders", 0.85),
    ("not declared equivalent", 0.90),
)


def say(text=""):
    print(text, flush=True)


class Progress:
    """A moving line on a terminal, a line a minute elsewhere."""

    def __init__(self, total):
        self.total, self.done, self.begin, self.said = total, 0, time.monotonic(), 0.0
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
        line = f"mutants: {self.done} of {self.total}, {text}, {left / 60:.0f} min left"
        print(f"\r\033[K{line[:110]}" if terminal else line, end="" if terminal else "\n",
              file=sys.stderr, flush=True)

    def end(self):
        if sys.stderr.isatty():
            print(file=sys.stderr)


# The list of those known to survive.

def read_list(path):
    """{key: (name, word, why)}; word is `equivalent` or `open`."""
    known = {}
    if not path.exists():
        return known
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, bar, rest = line.partition(" | ")
        word, colon, why = rest.partition(": ")
        if not bar or not colon or word not in ("equivalent", "open") or not why.strip():
            raise SystemExit(f"{path}:{number}: neither `name | equivalent: why` nor "
                             "`name | open: what is missing`")
        if key_of(name) in known:
            raise SystemExit(f"{path}:{number}: listed twice")
        known[key_of(name)] = (name, word, why)
    return known


def faults_of_list(known, results, mutants, whole):
    """Lines about the list and the survivors that it does not name."""
    names = {key_of(mutant.name) for mutant in mutants}
    faults = [f"{result['verdict']}, and not listed: {result['name']}" for result in results
              if result["verdict"] != "killed" and key_of(result["name"]) not in known]
    for result in results:
        listed = known.get(key_of(result["name"]))
        if result["verdict"] == "killed" and listed and (whole or listed[1] == "equivalent"):
            faults.append(f"listed, but killed by {result['killer']}: {result['name']}")
    if whole:
        faults += [f"listed, but not there: {name}" for key, (name, _, _) in known.items()
                   if key not in names]
    return faults


def unknown_of(mutants, known, memory):
    """Those that no list knows: new, or changed since it was written."""
    return [mutant for mutant in mutants
            if key_of(mutant.name) not in known and not memory.killer(mutant.name)]


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
    """Configures and builds the programs against the copy; their paths."""
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
    folder_of = {"explore": "explore"}
    return [str(output / folder_of.get(name, f"tests/{name.split('_')[0]}") / name)
            for name in programs]


def build(folder, programs, scenarios=()):
    """The explorer is no use without optimisation; the tests are built faster than they run, and
    look for leaks and for memory used too late. `scenarios`: of these rooms; none for all."""
    (folder / "build.log").write_bytes(b"")
    paths = []
    if "explore" in programs:
        paths += build_in(folder, "explorer",
                          ["-DCMAKE_CXX_FLAGS_RELEASE=-O1",
                           f"-DHANDOFF_EXPLORE_ROOMS={'|'.join(scenarios)}"], ["explore"])
    tests = [name for name in programs if name != "explore"]
    if tests:
        paths += build_in(folder, "tests",
                          ["-DCMAKE_CXX_FLAGS_RELEASE=-O0", "-DHANDOFF_SANITIZE=address"], tests)
    return paths


def programs_of(rooms):
    return ["explore", *sorted({name for room in rooms for name in TESTS[room]})]


def record_all(folder, programs, count, workers, first=(), until=None):
    """The cases of each program with what they pass: those of `first` first, and none that is not
    begun by `until`."""
    digests = {program: trial.digest(program) for program in programs}
    path = folder / "record.json"
    records = trial.load_records(path, digests)
    for program in programs:
        if program not in records:
            records[program] = trial.cases_of(program)
    rank = {title: at for at, title in enumerate(first)}
    todo = sorted((case for cases in records.values() for case in cases if not case.recorded()),
                  key=lambda case: rank.get(case.title(), len(rank)))

    def one(case):
        late = until is not None and time.monotonic() > until
        return "" if late else trial.record(case, count)
    with ThreadPoolExecutor(workers) as pool:
        faults = [line for line in pool.map(one, todo) if line]
    for program, cases in records.items():
        done = [case.seconds for case in cases if case.recorded()]
        say(f"{Path(program).name}: {len(done)} of {len(cases)} cases, {sum(done):.1f} s")
    trial.save_records(path, records, digests)
    for line in faults:
        say(f"mutants: {line}")
    return records, digests, bool(faults)


# Trying them.

class Trials:
    """Mutants, the cases that pass them, and what became of them."""

    def __init__(self, folder, mutants, records, digests, memory, listed=()):
        self.path = folder / "results.jsonl"
        self.mutants = mutants
        self.memory = memory
        self.listed = listed
        self.titles = {Path(program).name: {case.title() for case in cases}
                       for program, cases in records.items()}
        self.digests = {Path(program).name: digest for program, digest in digests.items()}
        self.killers = {}  # of earlier runs of this build
        self.hints = collections.defaultdict(list, memory.by_place())
        self.passing = collections.defaultdict(list)
        rooms = {mutant.number: mutant.room for mutant in mutants}
        self.duty = {room: {"explore", *names} for room, names in TESTS.items()}
        for program, cases in records.items():
            for case in cases:
                for number in case.hits:
                    if number in rooms and Path(program).name in self.duty[rooms[number]]:
                        self.passing[number].append(case)

    def can_try(self, mutant):
        """Whether the case that killed it last was recorded and passes it."""
        killer = self.memory.killer(mutant.name)
        return any(killer == case.title() for case in self.passing[mutant.number])

    def before(self, keep_kills):
        """The last result of each mutant, if it is of a program that is still the same."""
        results = {}
        if not self.path.exists():
            return results
        for line in self.path.read_text().splitlines():
            result = json.loads(line)
            name = result["name"]
            if result["verdict"] == "killed":
                self.killers[name] = result["killer"]
                program = result["killer"].split()[0]
                if not keep_kills and result["digest"] != self.digests.get(program):
                    results.pop(name, None)
                    continue
            results[name] = result
        return results

    def budget_of(self, mutant, budget_s):
        """What is known to survive lived through more when it was listed."""
        return min(budget_s, LISTED_S) if key_of(mutant.name) in self.listed else budget_s

    def left_for(self, mutant, result, budget_s):
        """Programs that it has not survived yet, or not for so long."""
        if result is None:
            survived = {}
        elif result["verdict"] == "killed":
            return set()
        else:
            survived = result["programs"] if result.get("budget_s", 0) >= budget_s else {}
        return {name for name in self.duty[mutant.room] & set(self.digests)
                if survived.get(name) != self.digests[name]}

    def remember(self, results):
        """Writes down who killed whom; also of a run that is stopped later."""
        files = {mutate.short(file) for file in mutate.files_of(ROOT)}
        self.memory.learn(self.mutants, results, self.titles, files)
        self.memory.write()

    def run(self, mutants, workers, until=None, keep_kills=False, budget_s=trial.BUDGET_S,
            remember=False, least=0):
        """Tries them; after `until` only until there are `least`."""
        results = self.before(keep_kills)
        todo = [(mutant, self.budget_of(mutant, budget_s)) for mutant in mutants]
        todo = [(mutant, self.left_for(mutant, results.get(mutant.name), budget), budget)
                for mutant, budget in todo]
        todo = [job for job in todo if job[1]]
        for mutant, _, _ in todo:
            results.pop(mutant.name, None)
        progress = Progress(len(todo))

        def one(job):
            if until is not None and time.monotonic() > until and progress.done >= least:
                return None
            result = self.try_one(*job)
            with self.path.open("a") as out:
                out.write(json.dumps(result) + "\n")
            progress.add(result["verdict"])
            return result
        def so_far():
            return [results[mutant.name] for mutant in mutants if mutant.name in results]
        due = time.monotonic() + REMEMBER_S
        with ThreadPoolExecutor(workers) as pool:
            for result in pool.map(one, todo):
                if result is not None:
                    results[result["name"]] = result
                if remember and time.monotonic() > due:
                    due = time.monotonic() + REMEMBER_S
                    self.remember(so_far())
        progress.end()
        if remember:
            self.remember(so_far())
        return so_far()

    def try_one(self, mutant, programs, budget_s):
        passing = self.passing[mutant.number]
        neighbours = self.hints[place_of(mutant.name)]
        result = trial.try_mutant(
            mutant, [case for case in passing if Path(case.program).name in programs],
            neighbours[:2], budget_s,
            remembered=self.killers.get(mutant.name) or self.memory.killer(mutant.name))
        if result["verdict"] == "killed":
            neighbours.insert(0, result["killer"])
            result["digest"] = self.digests[result["killer"].split()[0]]
        else:
            result["verdict"] = "survived" if passing else "not reached"
            result["budget_s"] = budget_s
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


# Telling.

def table(rows, mutants, key, known):
    """Counts by what `key` says of a mutant."""
    groups = collections.defaultdict(collections.Counter)
    for mutant, result in rows:
        counts = groups[key(mutant)]
        counts["all"] += 1
        counts[result["verdict"]] += 1
        counts["late"] += result.get("how") in ("time-out", "memory")
        counts["explorer"] += bool(result.get("by_explorer"))
        counts["equivalent"] += known.get(key_of(mutant.name), ("", ""))[1] == "equivalent"
    say(f"{'':34} mutants  killed  by explorer  by time-out  survived  not reached  equivalent")
    for name, c in sorted(groups.items()):
        say(f"{name:34} {c['all']:7} {c['killed']:7} {c['explorer']:12} {c['late']:12} "
            f"{c['survived']:9} {c['not reached']:12} {c['equivalent']:11}")
    say()


def shares(rows, known):
    """The figures of a whole run, in the order of SHARES."""
    def is_equivalent(mutant):
        return known.get(key_of(mutant.name), ("", ""))[1] == "equivalent"
    killed = [result for _, result in rows if result["verdict"] == "killed"]
    late = sum(result["how"] in ("time-out", "memory") for result in killed)
    counted = [(m, r) for m, r in rows if not is_equivalent(m)]
    orders = [r for m, r in counted if m.orders]
    return (len(rows),
            len(killed) / max(1, len(counted)),
            1 - late / max(1, len(killed)),
            sum(bool(r.get("by_explorer")) for r in orders) / max(1, len(orders)),
            len(counted) / max(1, len(rows)))


def tell(mutants, results, known, whole):
    """Prints it all; lines about what is not kept."""
    of = {mutant.name: mutant for mutant in mutants}
    rows = [(of[result["name"]], result) for result in results]
    say()
    table(rows, mutants, lambda mutant: mutant.operator, known)
    table(rows, mutants, lambda mutant: mutant.room, known)
    if whole:
        table(rows, mutants, lambda mutant: mutant.file.removeprefix("include/handoff/"), known)
    faults = []
    for (what, least), share in zip(SHARES, shares(rows, known)):
        good = share >= least
        say(f"{what}: " + (f"{share}, at least {least}" if least > 1 else
                           f"{100 * share:.1f} %, at least {100 * least:.0f} %"))
        if whole and not good:
            faults.append(f"{what}: too few")
    return faults


def write_result(path, mutants, results):
    """For programs: every mutant with what became of it."""
    of = {mutant.name: mutant for mutant in mutants}
    rows = [{**mutate.as_dict(of[result["name"]]), **result} for result in results]
    survivors = collections.defaultdict(list)
    for row in rows:
        if row["verdict"] != "killed":
            survivors[row["file"]].append({key: row[key] for key in (
                "name", "verdict", "line", "text", "operator", "function")})
    path.write_text(json.dumps({"mutants": rows, "survivors": survivors}, indent=1))


def default_seed():
    """Another one as the code changes."""
    found = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                           check=False)
    return found.stdout.strip() or "0"


def arguments_of(words):
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="part of the paths of the files")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--sample", action="store_true", help="one room, drawn by the seed")
    parser.add_argument("--new", action="store_true",
                        help=f"only what neither {LIST.name} nor {KILLERS.name} knows")
    parser.add_argument("--seed", default=os.environ.get("HANDOFF_MUTANTS_SEED"))
    parser.add_argument("--jobs", type=int, default=jobs())
    parser.add_argument("--keep-kills", action="store_true",
                        help="do not try again what another build's tests have killed")
    parser.add_argument("--budget", type=float, default=trial.BUDGET_S, metavar="S",
                        help="cases that a mutant has to live through, in their seconds")
    parser.add_argument("--remember", action="store_true",
                        help=f"write down in {KILLERS.relative_to(ROOT)} what killed each")
    parser.add_argument("--no-build", action="store_true", help="as it was built last")
    parser.add_argument("--show", metavar="NAME", help="a part of a mutant's name")
    arguments = parser.parse_args(words)
    if arguments.sample and arguments.remember:
        parser.error("a sample does not know all cases: --remember without --sample")
    return arguments


def show(folder, part):
    """Prints the mutants whose name has this in it, and their last results."""
    results = {}
    if (folder / "results.jsonl").exists():
        for line in (folder / "results.jsonl").read_text().splitlines():
            result = json.loads(line)
            results[result["name"]] = result
    for mutant in json.loads((folder / "mutants.json").read_text()):
        if part not in mutant["name"]:
            continue
        say(f"{mutant['name']}\n  {mutant['file']}:{mutant['line']}: {mutant['text']}\n"
            f"  HANDOFF_MUTANT={mutant['number']}  {results.get(mutant['name'], 'not tried')}")
    return 0


def make_mutants(folder, parts, build_anew):
    """The mutants of these files and their copy of the library."""
    path = folder / "mutants.json"
    if not build_anew:
        return [mutate.Mutant(**entry) for entry in json.loads(path.read_text())]
    mutants, texts = mutate.mutate(ROOT, parts, jobs())
    mutate.write_tree(ROOT, folder / "tree", texts)
    path.write_text(json.dumps([mutate.as_dict(mutant) for mutant in mutants], indent=0))
    return mutants


def prepared(folder, programs, everything, arguments, room=None, drawn=()):
    """The programs built and recorded; None if one of their cases fails without a mutant. For a
    sample: with this room's scenarios alone, and within its time what killed those `drawn`."""
    if not arguments.no_build:
        paths = build(folder, programs, SCENARIOS.get(room, (room,)) if room else ())
        (folder / "programs.json").write_text(json.dumps(paths))
    paths = json.loads((folder / "programs.json").read_text())
    last = max(mutant.number for mutant in everything)
    memory = Memory(KILLERS)
    until = time.monotonic() + SAMPLE_RECORD_S if drawn else None
    records, digests, failed = record_all(folder, paths, last, arguments.jobs,
                                          memory.killers_of(drawn), until)
    return None if failed else Trials(folder, everything, records, digests, memory,
                                      read_list(LIST))


def sample(folder, room, program, everything, mutants, known, arguments):
    """As many as the time allows, with the room's scenarios or its first tests, as drawn: to build
    both takes longer than the trials. Those that live through these are tried with all scenarios
    and all the room's tests. (results, faults)"""
    begin = time.monotonic()
    drawn = [mutant for mutant in mutants if key_of(mutant.name) not in known]
    trials = prepared(folder, [program], everything, arguments, room, drawn)
    if trials is None:
        return [], ["a test fails without a mutant"]
    ready = time.monotonic()
    drawn = [mutant for mutant in drawn if trials.can_try(mutant)]
    say(f"built and recorded after {ready - begin:.0f} s: {len(drawn)} can be tried")
    faults = trials.canaries([mutant for mutant in everything if mutate.is_canary(mutant)])
    until = max(begin + SAMPLE_S, ready + SAMPLE_LEAST_S)
    results = trials.run(drawn, arguments.jobs, until, budget_s=arguments.budget,
                         least=SAMPLE_MIN)
    alive = {result["name"] for result in results if result["verdict"] != "killed"}
    if alive:
        say(f"{len(alive)} are left for all other tests")
        trials = prepared(folder, programs_of([room]), everything, arguments)
        if trials is None:
            return results, faults + ["a test fails without a mutant"]
        left = [mutant for mutant in drawn if mutant.name in alive]
        again = trials.run(left, arguments.jobs, budget_s=arguments.budget)
        results = [result for result in results if result["name"] not in alive] + again
    if len(results) < min(SAMPLE_MIN, len(drawn)) or not results:
        faults.append(f"only {len(results)} mutants tried")
    return results, faults


def whole(folder, everything, mutants, arguments):
    """All of them with all the tests: (results, faults)."""
    rooms = sorted({mutant.room for mutant in mutants})
    trials = prepared(folder, programs_of(rooms), everything, arguments)
    if trials is None:
        return [], ["a test fails without a mutant"]
    faults = trials.canaries([mutant for mutant in everything if mutate.is_canary(mutant)])
    return trials.run(mutants, arguments.jobs, None, arguments.keep_kills,
                      arguments.budget, arguments.remember), faults


def main(words):
    arguments = arguments_of(words)
    folder = arguments.build.resolve()
    if arguments.show:
        return show(folder, arguments.show)
    folder.mkdir(parents=True, exist_ok=True)
    trial.set_limits()
    begin = time.monotonic()
    seed = arguments.seed or default_seed()
    draw = random.Random(seed)
    known = read_list(LIST)
    sampled = arguments.sample and os.environ.get("HANDOFF_TEST_DEEP") != "1"
    parts = arguments.parts
    room = draw.choice(sorted(TESTS))
    program = draw.choice(["explore", TESTS[room][0]])
    if sampled:
        parts = [f"include/handoff/{room}/", f"src/{room}/"]
        say(f"seed {seed} (repeat with --seed or HANDOFF_MUTANTS_SEED): room {room}, "
            f"{program}")
    everything = make_mutants(folder, parts, not arguments.no_build)
    mutants = [mutant for mutant in everything if not mutate.is_canary(mutant)
               and mutate.is_of(mutant.file, parts)]
    say(f"{len(mutants)} mutants made after {time.monotonic() - begin:.0f} s")
    if arguments.new:
        mutants = unknown_of(mutants, known, Memory(KILLERS))
        say(f"{len(mutants)} of them in no list")
    draw.shuffle(mutants)
    if sampled:
        results, faults = sample(folder, room, program, everything, mutants, known,
                                 arguments)
    else:
        results, faults = whole(folder, everything, mutants, arguments)
    is_all = not sampled and not parts and not arguments.new
    faults += tell(mutants, results, known, is_all)
    write_result(folder / "result.json", mutants, results)
    faults += faults_of_list(known, results, mutants, is_all)
    for line in faults:
        say(f"FAULT: {line}")
    say(f"{len(results)} mutants in {time.monotonic() - begin:.0f} s, {len(faults)} faults, "
        f"seed {seed}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
