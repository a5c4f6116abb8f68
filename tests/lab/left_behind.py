# SPDX-License-Identifier: MIT
"""What a run of the lab must not leave behind: processes, and names of shared memory. Other tests
run beside this one: its own processes are known by a variable of their environment."""

import os
import time
from pathlib import Path

from lab_support import PROGRAM

CONTENDERS = str(Path(PROGRAM).resolve().parent / "libexec" / "handoff") + "/"
MARK = f"HANDOFF_TEST_RUN={os.getpid()}-{time.monotonic_ns()}"
os.environ.update([MARK.split("=")])


def programs_alive():
    """Of all processes that this test has started, and those that they have started."""
    alive = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            program = os.readlink(f"/proc/{process}/exe")
            variables = Path("/proc", process, "environ").read_bytes().split(b"\0")
        except OSError:  # it has ended since, or is another user's
            continue
        if MARK.encode() in variables:
            alive.append(program)
    return alive


def contenders_alive():
    """The programs of this test's contenders."""
    return [program for program in programs_alive() if program.startswith(CONTENDERS)]


def left_behind():
    """Also names of memory whose maker is gone, and what a contender has started of others."""
    names = [name for name in os.listdir("/dev/shm") if name.startswith("handoff-lab-")
             and not os.path.exists("/proc/" + name.rpartition("-")[2])]
    return names + programs_alive()


def assert_nothing_left(test):
    end = time.monotonic() + 10  # what was killed may still be ending
    while left_behind() and time.monotonic() < end:
        time.sleep(0.01)
    test.assertEqual(left_behind(), [])
