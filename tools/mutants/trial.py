# SPDX-License-Identifier: MIT
"""Runs the test programs against mutants: one case in one process, with limits.

A case is one test of a gtest program or one scenario of the explorer. Each is run once without a
mutant, which tells how long it takes and which mutants' places it passes; from then on a mutant
is tried only with the cases that pass it.
"""

import hashlib
import json
import os
import re
import resource
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

LIMIT_TIMES = 10  # of the time without a mutant,
LIMIT_PLUS_S = 1  # and this;
PATIENCE = 3  # so many times that for one that seems to hang: the machine may have stood still
MEMORY_KIB = 3 << 20  # what one process may have in memory
RECORD_S = 300  # for a case without a mutant
BUDGET_S = 60  # of scenarios, and of tests, without a mutant: a mutant that outlives these survives
LARGE_S = 10  # of CPU; a scenario that takes longer is tried with one deviation less
AGAIN = 4  # so often a test that killed before is tried once more, where all let the mutant live
FAULT = re.compile(r"\d+ deviations\): ([a-z_ -]+):")


@dataclass
class Case:
    """One test or scenario."""
    program: str  # its path
    name: str
    arguments: list
    explorer: bool
    seconds: float = -1.0  # below 0: not recorded yet
    hits: list = field(default_factory=list)

    def recorded(self):
        return self.seconds >= 0

    def title(self):
        return f"{Path(self.program).name} {self.name}"


@dataclass
class End:
    """How a process ended: passed, failed, crash, time-out or memory; and a word about it."""
    how: str
    seconds: float
    cpu_s: float
    output: str = ""


def set_limits():
    """For this process and all that it starts: nobody wants their cores."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def environment(mutant=0, hits=None):
    env = {**os.environ, "HANDOFF_MUTANT": str(mutant), "HANDOFF_TEST_SEED": "1"}
    env.pop("HANDOFF_TEST_DEEP", None)
    if hits is not None:
        env["HANDOFF_MUTANT_HITS"] = str(hits)
    return env


def resident_kib(pid):
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * (os.sysconf("SC_PAGESIZE") // 1024)


def run(command, env, limit_s):
    """One process in a session of its own, which is ended as a whole."""
    with tempfile.TemporaryFile() as output:
        begin = time.monotonic()
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        how = wait(process, begin + limit_s)
        seconds = time.monotonic() - begin
        try:
            os.killpg(process.pid, signal.SIGKILL)  # what it may have left behind
        except ProcessLookupError:
            pass
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = code = os.waitstatus_to_exitcode(status)
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - 100_000))
        text = output.read().decode(errors="replace")
    if how == "":
        how = "passed" if code == 0 else "crash" if code < 0 else "failed"
    return End(how, seconds, usage.ru_utime + usage.ru_stime, text)


def wait(process, deadline):
    """Empty if it ended by itself."""
    watched = os.pidfd_open(process.pid)
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return "time-out"
            if select.select([watched], [], [], min(left, 0.2))[0]:
                return ""
            if resident_kib(process.pid) > MEMORY_KIB:
                return "memory"
    finally:
        os.close(watched)


def gtest_cases(program):
    listed = subprocess.run([program, "--gtest_list_tests"], env=environment(), check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    cases, suite = [], ""
    for line in listed.splitlines():
        name = line.split("#")[0].strip()
        if not line.startswith(" "):
            suite = name if name.endswith(".") else ""
        elif suite and not name.startswith("DISABLED_"):
            cases.append(Case(program, suite + name, [f"--gtest_filter={suite}{name}"], False))
    return cases


def scenarios(program):
    """By name; the explorer takes parts of names, so longer names are left out by name."""
    names = subprocess.run([program, "--list"], env=environment(), check=True,
                           stdout=subprocess.PIPE, text=True).stdout.split("\n")
    names = [name for name in names if "/" in name and " " not in name]
    cases = []
    for name in names:
        arguments = [name]
        for longer in names:
            if name in longer and name != longer:
                arguments += ["--except", longer]
        cases.append(Case(program, name, arguments, True))
    return cases


def cases_of(program):
    return scenarios(program) if Path(program).name == "explore" else gtest_cases(program)


def record(case, last):
    """record_once(), again where it does not pass: the machine may be busy."""
    for _ in range(3):
        fault = record_once(case, last)
        if not fault:
            break
    return fault


def record_once(case, last):
    """Runs the case without a mutant; `last`: the highest number. A line if it does not pass."""
    with tempfile.NamedTemporaryFile() as hits:
        hits.truncate(last + 1)
        env = environment(0, hits.name)
        end = run([case.program, *case.arguments], env, 5 * LARGE_S if case.explorer else RECORD_S)
        if case.explorer and (end.how == "time-out" or end.cpu_s > LARGE_S):
            case.arguments += ["--deviations", "1"]
            end = run([case.program, *case.arguments], env, RECORD_S)
        passed = Path(hits.name).read_bytes()
    if end.how != "passed":
        return f"{case.title()}: {end.how} without a mutant"
    case.seconds = end.cpu_s if case.explorer else end.seconds
    case.hits = [number for number, byte in enumerate(passed) if byte]
    return ""


def digest(path):
    return hashlib.sha1(Path(path).read_bytes()).hexdigest()


def load_records(path, programs):
    """What was recorded of programs that are still the same: {program: [Case]}."""
    if not path.exists():
        return {}
    stored = json.loads(path.read_text())
    return {program: [Case(**case) for case in entry["cases"]]
            for program, entry in stored.items()
            if program in programs and entry["digest"] == programs[program]}


def save_records(path, records, programs):
    path.write_text(json.dumps({
        program: {"digest": programs[program], "cases": [asdict(case) for case in cases]}
        for program, cases in records.items()}))


def limit_of(case):
    return LIMIT_TIMES * case.seconds + LIMIT_PLUS_S


def fault_of(output):
    """What the explorer says of a scenario that failed."""
    found = FAULT.search(output)
    return found.group(1) if found else "failed"


def try_one(case, number, patience=1):
    """(how, word): how is empty if the case does not notice the mutant."""
    end = run([case.program, *case.arguments], environment(number), patience * limit_of(case))
    if end.how == "passed":
        return "", ""
    if end.how == "failed":
        return ("explorer", fault_of(end.output)) if case.explorer else ("test", "failed")
    if end.how in ("time-out", "memory") and re.search(r": Failure$", end.output, re.MULTILINE):
        return "test", "failed, then hung"
    return end.how, end.how


def passes_without(case):
    """The machine may be busy, and a test may have failed for a reason of its own."""
    return run([case.program, *case.arguments], environment(0), limit_of(case)).how == "passed"


def order_of(cases, mutant, hints, remembered):
    """What killed it last, then the explorer where its word is asked for, then those that killed a
    neighbour, then the fastest; and in the end what killed it last, if threads decide that."""
    def rank(case):
        stage = 0 if case.explorer or not mutant.orders else 1
        hinted = hints.index(case.title()) if case.title() in hints else len(hints)
        return case.title() != remembered, stage, hinted, case.seconds
    ordered = sorted(cases, key=rank)
    first = ordered[:1] if ordered and ordered[0].title() == remembered else []
    return ordered + AGAIN * [case for case in first if not case.explorer]  # threads: by chance


def try_mutant(mutant, cases, hints, budget_s=BUDGET_S, seek=1, remembered=None):
    """Tries the cases in order until one kills: a dict with verdict, how, killer, seconds.

    A time-out is a poor witness: another case may be a better one, unless that was looked for
    before."""
    begin = time.monotonic()
    late, left, spent = None, seek, {True: 0.0, False: 0.0}
    for case in order_of(cases, mutant, hints, remembered):
        if case.title() != remembered:
            spent[case.explorer] += case.seconds
            if spent[case.explorer] > budget_s and late is None:
                continue
        how, word = try_one(case, mutant.number)
        if how and how != "explorer" and not passes_without(case):
            continue
        if how == "time-out":
            how, word = try_one(case, mutant.number, PATIENCE)
        if how in ("time-out", "memory") and late is None:
            late = how, word, case
            if case.title() == remembered:
                break
        elif how and how not in ("time-out", "memory"):
            late = how, word, case
            break
        if late is not None:
            left -= 1
            if left < 0:
                break
    found = {"name": mutant.name, "number": mutant.number,
             "verdict": "killed" if late else "survived" if cases else "not reached"}
    if late:
        how, word, case = late
        found.update(how=how, word=word, killer=case.title(), by_explorer=case.explorer)
    found["seconds"] = round(time.monotonic() - begin, 3)
    return found
