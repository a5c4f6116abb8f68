# SPDX-License-Identifier: MIT
"""Result files of machines that do not exist, with every kind of row that the page must show."""

import random
import statistics

CONTENDERS = {"own.thread_team": 1.0, "own.pool.stealing.std_future": 0.97, "peer.openmp": 0.96,
              "peer.onetbb": 0.9, "peer.eigen": 0.7, "seed.threads": 0.6, "seed.single": 0.5,
              "limit.fma": 3.1}


def row(contender, launches, scenario="matmul", metric="gflops", unit="GFLOP/s", better="higher",
        status="ok", reason="", parameters=None, **more):
    """A row whose figures come from its launches; without launches one that was not measured."""
    medians = [statistics.median(bursts) for bursts in launches]
    measured = bool(launches)
    middle = statistics.median(medians) if measured else None
    return {"scenario": scenario, "contender": contender, "kind": contender.split(".")[0],
            "parameters": parameters or {}, "metric": metric, "unit": unit, "better": better,
            "samples": [value for bursts in launches for value in bursts], "launches": launches,
            "median": middle, "low": min(medians) if measured else None,
            "high": max(medians) if measured else None,
            "wall_ns_per_op": 1e6 if measured else None,
            "cpu_ns_per_op": 2e6 if measured else None, "items_per_op": 1 if measured else None,
            "share_elsewhere": 0.5 if measured else None, "status": status, "reason": reason,
            **more}


def launches_around(value, numbers, noise=0.02, launches=5, bursts=5):
    return [[value * (1 + noise * (numbers.random() - 0.5)) for _ in range(bursts)]
            for _ in range(launches)]


def environment(number=0):
    return {"date": f"2026-11-{number % 28 + 1:02}T12:00:00Z", "kernel": "Linux 6.1.0",
            "cpu": {"model": f"Model {number} (R) <Processor> @ 2.50GHz", "cores": 2,
                    "caches": [{"level": 1, "bytes": 32768, "line_bytes": 64, "count": 2}]},
            "budget": {"affinity": 2, "quota_cpus": None, "width": 2 + number % 7},
            "memory_bytes": 25276514304, "compiler": "GNU 12.2.0", "flags": "-O3 -march=native",
            "handoff": {"version": "0.1.0", "commit": f"{number:012x}"},
            "load_average": [0.651367187, 1.5, 0.25], "command_line": ["handoff", "run"],
            "seed": number, "variables": {}, "contender_variables": {}}


def matmul_rows(numbers, speed):
    rows = []
    for kernel in ("ikj", "tile"):
        for n in (256, 512, 1024):
            for width in (1, 2, 4, 8):
                work = {"kernel": kernel, "n": n, "width": width}
                for contender, factor in CONTENDERS.items():
                    value = speed * factor * min(width, 3) * (4 if kernel == "tile" else 1)
                    rows.append(row(contender, launches_around(value, numbers), parameters=work))
                rows.append(row("peer.absent", [], status="unavailable", parameters=work,
                                reason="not built: needs libmoon-dev"))
                rows.append(row("peer.wrong", [], status="wrong", parameters=work,
                                reason="its relative error is 0.5, allowed is <b>1e-5</b>"))
    rows[0].update(status="noisy", reason="another process took 40 % of a CPU")
    return rows


def grain_rows(numbers):
    rows = []
    for contender, cost in {"own.pool": 60, "peer.onetbb": 205, "peer.openmp": 190}.items():
        curve = [[size, size / (size + cost)] for size in (4 ** k for k in range(1, 10))]
        rows.append(row(contender, launches_around(cost, numbers), scenario="grain",
                        metric="metg50", unit="ns", better="lower", parameters={"unit": "task"},
                        curves={"efficiency": curve}))
    return rows


def message_rows(numbers):
    rows = []
    for contender, cost in {"own.spsc": 70, "peer.atomic_queue": 75, "seed.list": 2500}.items():
        curve = [[p, cost * (1 + i)] for i, p in enumerate((50, 75, 90, 95, 99, 99.9, 99.99))]
        latency = {"count": 1000, "unit": "ns", "percentiles": [*curve, [100, cost * 50]]}
        figures = {"p99": cost * 5, "p99.9": cost * 6, "p50": cost}
        for wait, more in (("spin", {"figures": figures}),
                           ("sleep", {"curves": {"percentiles": curve}}),
                           ("block", {"latency": latency})):
            rows.append(row(contender, launches_around(cost, numbers), scenario="messages",
                            metric="latency_p50", unit="ns", better="lower",
                            parameters={"rate": 100000, "wait": wait}, **more))
    return rows


TASK = {"count": 1000, "state": "hot", "width": 2, "work": 0}


def task_rows(numbers):
    costs = {"own.pool.stealing": 28, "peer.onetbb": 155, "peer.taskflow": 120,
             "peer.mutex_pool": 400, "limit.ring": 9}
    return [row(contender, launches_around(cost, numbers, launches=8), scenario="tasks",
                metric="fire_and_forget", unit="ns", better="lower", parameters=TASK)
            for contender, cost in costs.items()]


def way(contender, median):
    return {"contender": contender, "median": median, "low": median * 0.99, "high": median * 1.01}


def rung():
    return {"name": "task", "scenario": "tasks", "metric": "fire_and_forget", "parameters": TASK,
            "unit": "ns", "latency": False, "own": way("own.pool.stealing", 28),
            "peer": way("peer.taskflow", 120), "today": way("peer.mutex_pool", 400),
            "limit": way("limit.ring", 9), "named": [way("peer.onetbb", 155)],
            "peers": ["peer.taskflow", "peer.onetbb"], "verdict": "faster", "ratio": 0.233,
            "low": 0.23, "high": 0.24}


ARTICLE = {"scenario": "matmul", "title": "An article about <threads> (2026)", "metric": "gflops",
           "parameters": {"kernel": "ikj", "n": 512, "width": 2},
           "rows": [{"scheme": "single thread", "milliseconds": 218, "note": "",
                     "contender": "seed.single"},
                    {"scheme": "as fast", "milliseconds": 218, "note": "", "contender":
                     "seed.threads"},
                    {"scheme": "std::thread", "milliseconds": 8.6, "note": "",
                     "why": "its machine had more CPUs", "contender": "own.thread_team"},
                    {"scheme": "nobody's", "milliseconds": 17.4, "note": "", "contender": ""},
                    {"scheme": "missing", "milliseconds": 3000, "note": "more than; a guess",
                     "contender": "peer.absent"}]}


def result(number=0):
    """The file of one machine; each number is another machine."""
    numbers = random.Random(number)
    rows = matmul_rows(numbers, 15 + number % 9) + grain_rows(numbers) + message_rows(numbers)
    return {"schema": 1, "environment": environment(number), "rows": rows,
            "articles": [ARTICLE]}


def overview(number=0):
    """One with a ladder."""
    whole = result(number)
    whole["rows"] += task_rows(random.Random(number))
    whole["rungs"] = [rung()]
    whole["blocks"] = [None, {"repeats": 0, "foreign_cpus": 0.9, "stolen_cpus": 0, "throttled": 0,
                              "probe": {"one_cpu_gflops": 40, "all_cpus_gflops": 70},
                              "disturbed": "other processes took 0.90 CPUs"}]
    return whole
