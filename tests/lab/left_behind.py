# SPDX-License-Identifier: MIT
"""What a run of the lab must not leave behind: processes, and names of shared memory. Other tests
run beside this one: its own processes are known by a variable of their environment."""

import os
import signal
import time
from pathlib import Path

from lab_support import PROGRAM, ScenarioTest

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


class LeavesNothingTest(ScenarioTest):
    """Of a scenario that starts processes: each run is asked what it leaves."""

    def result(self, *arguments, **how):
        result = super().result(*arguments, **how)
        assert_nothing_left(self)
        return result

    def start_a_long_run(self, metric, *arguments):
        """It has contenders when this returns."""
        run = self.start(PROGRAM, "run", self.scenario, "--metrics", metric, "--no-probe",
                         "--launches", "1000", "--time-budget", "600", "--output", "r.json",
                         *arguments)
        while not contenders_alive():
            self.assertIsNone(run.poll())
            time.sleep(0.001)
        return run

    def assert_ctrl_c_leaves_nothing(self, metric, *arguments):
        run = self.start_a_long_run(metric, *arguments)
        time.sleep(0.2)  # in the middle
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(), 130)
        assert_nothing_left(self)
