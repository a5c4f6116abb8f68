# SPDX-License-Identifier: MIT
"""What each public header adds to a unit that includes <thread> already.

Counted, not timed: the lines that are left for the compiler after preprocessing, which do not
change from run to run (docs/adr/0005-tests-count.md). --seconds prints for a reader how long the
compiler takes, too, for those headers that add enough to be felt. With --since-release only those
count that changed since, or include what did; all in a deep run.
"""

import argparse
import subprocess
import sys
import time

from since_release import changed_files, headers_that_include

LINES_MAX = 17300  # room for <memory>, <vector> and <chrono>, not for <functional> (g++ 12: 14,600)

# Headers that cannot do with that, and why.
LINES_MAX_OF = {
    "handoff/pool/parallel_for.hpp": 18000,  # a pool, and reductions besides the loops
    "handoff/pool/task_group.hpp": 17450,  # a pool, and the hook of a group
    "handoff/graph/partition.hpp": 20000,  # returns a std::ranges::subrange: <ranges>
    "handoff/graph/algorithms.hpp": 22000,  # the same
    "handoff/event/detail/event_store.hpp": 25000,  # <queue>, <unordered_map>
    "handoff/event/detail/event_session.hpp": 25000,  # the same
    "handoff/event/detail/event_turn.hpp": 25000,  # the same
    "handoff/event/event_queue.hpp": 25200,  # the same
    "handoff/core/to_std.hpp": 20000,  # gives a std::future: <future>
    "handoff/pool/submit_std.hpp": 20000,  # the same
    "handoff/handoff.hpp": 52500,  # all of these at once; held against <future> below
}

# Headers that are held against <future>, which they stand in for: how many times its lines. The
# seconds follow the lines: g++ 12 needs 1.25 times as long for the pool as for <future>.
# All public headers together: 2 times for the rooms of today, 0.15 more for each that is added.
TIMES_FUTURE = {"handoff/pool/thread_pool.hpp": 1.3, "handoff/handoff.hpp": 2.3}

LINES_FELT = 1000


class CompilerError(Exception):
    pass


def run_compiler(arguments, mode, headers):
    unit = "".join(f"#include <{header}>\n" for header in headers)
    command = [arguments.compiler, "-std=c++20", "-x", "c++", *mode, "-"]
    command += [f"-I{folder}" for folder in arguments.include]
    done = subprocess.run(command, input=unit, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompilerError(f"{headers[-1]} does not compile alone:\n{done.stderr}")
    return done.stdout


def lines(arguments, headers):
    text = run_compiler(arguments, ["-E", "-P"], headers)
    return sum(1 for line in text.splitlines() if line.strip())


def seconds(arguments, headers):
    start = time.monotonic()
    run_compiler(arguments, ["-fsyntax-only"], headers)
    return time.monotonic() - start


def exceeds_future(arguments, header):
    most = arguments.times_future or TIMES_FUTURE.get(header)
    if most is None:
        return False
    times = lines(arguments, [header]) / lines(arguments, ["future"])
    verdict = "" if times <= most else "  TOO MANY: include less"
    print(f"{times:.2f} times the lines of <future>, at most {most}: {header}{verdict}")
    return times > most


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--lines-max", type=int, default=LINES_MAX)
    parser.add_argument("--times-future", type=float, help="of each header, in place of the table")
    parser.add_argument("--seconds", action="store_true", help="print them; judges nothing")
    parser.add_argument("--since-release", action="store_true")
    parser.add_argument("headers", nargs="+")
    arguments = parser.parse_args()
    changed = changed_files() if arguments.since_release else None
    if changed is not None:
        changed = headers_that_include(changed)
        arguments.headers = [header for header in arguments.headers if header in changed]

    base = lines(arguments, ["thread"])
    base_seconds = seconds(arguments, ["thread"]) if arguments.seconds else 0
    print(f"<thread> alone: {base} lines; at most {arguments.lines_max} more")
    faults = 0
    for header in arguments.headers:
        added = lines(arguments, ["thread", header]) - base
        took = ""
        if arguments.seconds and added >= LINES_FELT:
            took = f"{seconds(arguments, ['thread', header]) - base_seconds:+.2f} s"
        most = max(arguments.lines_max, LINES_MAX_OF.get(header, 0))
        verdict = "" if added <= most else "  TOO MANY: include less, or less widely"
        print(f"{added:6} lines {took:8}  {header}{verdict}")
        faults += added > most
    faults += sum(exceeds_future(arguments, header) for header in arguments.headers)
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CompilerError as error:
        sys.exit(str(error))
