# SPDX-License-Identifier: MIT
"""The master of peer.mpi4py_futures: maps functions over a pool of MPI processes, as its order says
that comes on stdin, a line each. Started by `python3 -m mpi4py.futures` on all ranks; the arguments
say which function, and where what it needs is."""

import ctypes
import functools
import sys

import numpy
from mpi4py.futures import MPIPoolExecutor

MASK = 2**64 - 1


class Piece(ctypes.Structure):  # as scenarios/loads/draw.hpp has it
    _fields_ = [("work", ctypes.c_uint32), ("kind", ctypes.c_uint32)]


def begin(kind, words):
    """On each worker, once."""
    global libraries, matrices
    libraries = words
    matrices = matrices_of(words) if kind == "rows" else None


@functools.cache
def function(number):
    """One of the lab's work, from words PATH NAME each."""
    found = getattr(ctypes.CDLL(libraries[2 * number]), libraries[2 * number + 1])
    found.restype = ctypes.c_uint64
    return found


def matrices_of(words):
    """A, B and C from PID-FD paths, three sizes and the type."""
    m, n, k = map(int, words[3:6])
    shapes = ((m, k), (k, n), (m, n))
    return [numpy.memmap(path, words[6], "r+", 0, shape) for path, shape in zip(words, shapes)]


def burn(number, steps):
    function(0)(ctypes.c_uint64(number), ctypes.c_size_t(steps))
    return number


def compute(number, work, kind):
    result = function(1)(ctypes.c_uint64(number), ctypes.byref(Piece(work, kind)))
    mixed = result * 0x9E3779B97F4A7C15 & MASK
    return mixed ^ mixed >> 32  # as peers/answer.hpp folds it


def rows(first, last):
    return first, matrices[0][first:last] @ matrices[1]


def main():
    kind, width, *words = sys.argv[1:]
    width = int(width)
    own = matrices_of(words) if kind == "rows" else None
    with MPIPoolExecutor(width, initializer=begin, initargs=(kind, words)) as pool:
        def sum_of(function, *arguments, chunks=4 * width):
            size = max(1, len(arguments[0]) // chunks)
            return sum(pool.map(function, *arguments, chunksize=size)) & MASK

        pool.bootup()
        print(0, flush=True)  # all are there
        for line in sys.stdin.buffer:
            count, steps = map(int, line.split())
            if kind == "tasks" and steps > 0:
                answer = sum_of(burn, range(1, count + 1), [steps] * count)
            elif kind == "tasks":
                data = sys.stdin.buffer.read(24 * count)
                answer = sum_of(compute, *numpy.frombuffer(data, "u8").reshape(-1, 3).T.tolist())
            else:
                borders = [len(own[2]) * i // (count * width) for i in range(count * width + 1)]
                for first, block in pool.map(rows, borders[:-1], borders[1:], unordered=True):
                    own[2][first:first + len(block)] = block
                answer = 0
            print(answer, flush=True)


if __name__ == "__main__":
    main()
