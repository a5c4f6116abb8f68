# SPDX-License-Identifier: MIT
"""The result of an overview that nobody made: rows for all rungs of the ladder, and which ways
stand on them."""

import random

from synthetic_results import environment, launches_around, row

SIZES = [4 ** k for k in range(10)]  # ns

# name, scenario, metric, unit, parameters; then own, peer, today, limit, named, each with its time
RUNGS = [
    ("call", "events", "invoke", "ns", {"listeners": 1}, ("own.event", 1.4),
     ("peer.boost_signals2", 21), ("peer.std_functions", 1.6), ("limit.vector", 1.3), []),
    ("event", "events", "enqueue_process", "ns", {"count": 10000, "ids": 1}, ("own.event", 6.1),
     ("peer.concurrentqueue", 9.8), ("peer.mutex_queue", 38), ("limit.vector", 3.2), []),
    ("message", "channels", "message", "ns", {"consumers": 1, "producers": 1}, ("own.channel", 4.8),
     ("peer.atomic_queue", 5.3), ("peer.mutex_queue", 110), ("limit.ring", 3.1), []),
    ("bus", "messages", "throughput", "ns",
     {"bytes": 72, "consumer": "spins", "consumers": 1, "producers": 1, "publish": "batch"},
     ("own.bus.lanes", 11.4), ("peer.moodycamel", 11.8), None, ("limit.ring", 8.2), []),
    ("command", "commands", "command", "ns",
     {"calls": 40000, "key_bits": 64, "threads": 2, "work": 0}, ("own.bucket.parallel_submit", 14),
     ("peer.std_vectors", 39), ("peer.std_vectors", 39), None, []),
    ("task", "tasks", "fire_and_forget", "ns",
     {"count": 1000, "state": "hot", "width": 2, "work": 0}, ("own.pool.stealing", 28),
     ("peer.enkits", 96), ("peer.mutex_pool", 340), None, [("peer.onetbb", 155)]),
    ("future", "tasks", "future", "ns", {"count": 1000, "state": "hot", "width": 2, "work": 0},
     ("own.pool.stealing", 61), ("peer.onetbb", 240), ("peer.std_async", 21000),
     ("limit.packaged_task", 45), [("peer.onetbb", 240)]),
    ("fork", "forkjoin", "ns_per_fork", "ns", {"problem": "fib", "width": 2},
     ("own.pool.stealing", 17), ("peer.onetbb", 38), None, ("limit.serial", 2.1),
     [("peer.onetbb", 38)]),
    ("iteration", "grain", "loop", "ns", {"count": 1000000, "width": 2}, ("own.thread_team", 0.61),
     ("peer.openmp", 0.6), ("peer.std_for_each", 0.9), ("limit.serial", 1.1), []),
    ("sort", "algorithms", "sort", "ns",
     {"algorithm": "sort", "count": 1000000, "item": "int", "order": "random", "width": 2},
     ("own.algorithms", 5.1), ("peer.boost_block_indirect_sort", 16), ("limit.serial", 72), None,
     []),
    ("node", "graph", "node", "ns", {"nodes": 10000, "shape": "random", "width": 2},
     ("own.graph", 48), ("peer.onetbb_flow", 160), None, ("limit.serial", 9.5), []),
    ("item", "pipeline", "item", "ns", {"kind": "mixed", "width": 2}, ("own.pipeline", 31),
     ("peer.onetbb", 92), None, ("limit.serial", 1.2), []),
    ("loop_1us", "grain", "loop_1us", "ns", {"width": 2}, ("own.thread_team", 1430),
     ("peer.openmp", 1510), ("peer.std_threads", 61000), None, []),
    ("process", "processes", "latency", "ns", {"bytes": 8}, ("own.shared_ring", 130),
     ("peer.boost_message_queue", 5200), ("peer.unix_socket", 8100), ("limit.spin_ring", 120), []),
    ("ping", "tasks", "ping", "us", {"width": 2}, ("own.pool.fixed", 5.6), ("peer.openmp", 6.2),
     ("peer.mutex_pool", 5.9), ("limit.wake", 5.2), []),
    ("thread", "spawn", "thread", "us", {}, ("own.thread_start", 17), ("peer.std_thread", 15),
     ("peer.std_thread", 15), None, []),
    ("file", "files", "file", "ns", {"durable": 0, "files": 200}, ("own.caller", 11200),
     ("peer.fstream", 13100), ("peer.fstream", 13100), ("limit.raw", 10400), [])]
GREY = {"cache_miss": 96, "line_transfer": 61, "system_call": 130}
ORDERS = {"own.bus": "fifo", "own.bus.lanes": "per producer", "peer.moodycamel": "per producer",
          "peer.concurrentqueue": "per producer"}
METG = {"own.pool.stealing": 60, "own.pool.fixed": 110, "peer.onetbb": 205, "peer.openmp": 190}


def rung_rows(numbers, rung, noise):
    name, scenario, metric, unit, parameters, *ways, named = rung
    rows = {}
    for contender, value in [*filter(None, ways), *named]:
        order = {"order": ORDERS[contender]} if contender in ORDERS else {}
        rows[contender] = row(contender, launches_around(value, numbers, noise, launches=8),
                              scenario=scenario, metric=metric, unit=unit, better="lower",
                              parameters=parameters, **order)
    return list(rows.values())


def advice_rows(numbers):
    rows = []
    for contender, cost in METG.items():
        curve = [[size, size / (size + cost)] for size in SIZES]
        rows.append(row(contender, launches_around(cost, numbers), scenario="grain",
                        metric="metg50", unit="ns", better="lower",
                        parameters={"unit": "task", "width": 2}, curves={"efficiency": curve}))
        idle = 0 if contender.startswith("own") else 3
        rows.append(row(contender, [[idle]] * 5, scenario="tasks", metric="idle_cpu", unit="%",
                        better="lower", parameters={"width": 2}))
    return rows


def choice(rung):
    name, scenario, metric, _, parameters, own, peer, today, limit, named = rung
    way = lambda one: one and {"contender": one[0]}
    return {"name": name, "scenario": scenario, "metric": metric, "parameters": parameters,
            "own": way(own), "peer": way(peer), "today": way(today), "limit": way(limit),
            "named": [way(one) for one in named], "peers": [peer[0], *(one[0] for one in named)]}


def overview(number=0, noise=0.02):
    """The file of one machine; each number is another machine."""
    numbers = random.Random(number)
    rows = [one for rung in RUNGS for one in rung_rows(numbers, rung, noise)]
    rows += advice_rows(numbers)
    for metric, ns in GREY.items():
        rows.append(row("limit." + metric, launches_around(ns, numbers), scenario="machine",
                        metric=metric, unit="ns", better="lower"))
    where = {**environment(number), "hypervisor": "KVM",
             "peers": {"peer.onetbb": "libtbb-dev 2021.8.0",
                       "peer.openmp": "libgomp1 12.2.0"}}
    return {"schema": 1, "environment": where, "rows": rows,
            "rungs": [choice(rung) for rung in RUNGS]}
