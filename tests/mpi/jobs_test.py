#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""jobs_test.py [--kills N] [--seed S] JOB OTHER_BUILD -- MPIRUN... -n: whole jobs that fail.

A job is killed at random and started again with another number of ranks, until it is done: the
results are those of a job that nobody disturbed, and no finished row is computed again. And each
way to fail is one line, ends the job, leaves no rank running and overwrites nothing.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

PATIENCE_S = 60  # until a job hangs
ROWS = 300


class Job:
    """A job under way: its ranks are those processes that have its mark in their environment."""

    def __init__(self, ranks, *program):
        self.mark = f"HANDOFF_JOB_TEST={uuid.uuid4()}"
        name, value = self.mark.split("=")
        command = [*MPIRUN, str(ranks), *map(str, program)]
        self.process = subprocess.Popen(
            command, env=dict(os.environ, **{name: value}), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def processes(self):
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and self.mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                pass  # it has ended, or is another user's
        return found

    def end(self, patience_s=PATIENCE_S):
        """Waits for it: its code, and its lines on both streams. None of its ranks is left."""
        try:
            out, err = self.process.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            self.kill_all()
            raise AssertionError(f"the job goes on after {patience_s} s: {self.process.args}")
        until = time.monotonic() + PATIENCE_S
        while self.processes() and time.monotonic() < until:
            time.sleep(0.05)
        left = self.processes()
        self.kill_all()
        assert not left, f"ranks are left: {left} of {self.process.args}"
        return self.process.returncode, out, err

    def end_lone_launcher(self, patience_s=5):
        """Open MPI 4.1.4's launcher may wait for itself where a rank is killed while it starts. If
        no rank is left for so long, it is killed as well."""
        until = time.monotonic() + PATIENCE_S
        with_ranks = time.monotonic()
        while self.process.poll() is None and time.monotonic() < until:
            if set(self.processes()) != {self.process.pid}:
                with_ranks = time.monotonic()
            elif time.monotonic() - with_ranks > patience_s:
                self.process.kill()
            time.sleep(0.05)

    def kill_all(self):
        for process in self.processes():
            os.kill(process, signal.SIGKILL)


def run_arguments(folder, rows=ROWS, block=1, nap_us=300, number=5):
    return ("run", rows, block, nap_us, number, folder / "checkpoint", folder / "results",
            folder / "computed")


def lines_of(text):
    return [line for line in text.splitlines() if line.startswith("job: ")]


def fails_with(job, *words):
    """The job says one line with these words, and ends with an error."""
    code, _, err = job.end()
    said = lines_of(err)
    assert code != 0, f"it ended well; {err}"
    assert len(said) == 1, f"not one line: {err}"
    for word in words:
        assert word in said[0], f"no {word!r} in {said[0]}"


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def finished_rows(checkpoint):
    if not checkpoint.exists():
        return set()
    listed = subprocess.run([JOB, "list", checkpoint], capture_output=True, text=True, check=True)
    return {int(line) for line in listed.stdout.split()}


def rows_in(path):
    data = path.read_bytes() if path.exists() else b""
    return [int.from_bytes(data[i:i + 8], "little") for i in range(0, len(data) - 7, 8)]


def undisturbed(folder):
    """Results of one rank, which nobody disturbs."""
    code, out, err = Job(1, JOB, *run_arguments(folder)).end()
    assert code == 0 and out == f"done {ROWS}, restored 0\n", (code, out, err)
    return (folder / "results").read_bytes()


def kill_somewhere(job, draw, computed):
    """One of its processes, mpirun among them, at some row or at some moment of its start."""
    if draw.random() < 0.2:
        time.sleep(draw.random() * 0.4)
    else:
        rows = 8 * draw.randrange(ROWS // 4)
        while job.process.poll() is None and (
                not computed.exists() or computed.stat().st_size < rows):
            time.sleep(0.002)
    victims = sorted(set(job.processes()) | {job.process.pid})
    try:
        os.kill(draw.choice(victims), signal.SIGKILL)
    except ProcessLookupError:
        pass


def test_kills(kills, draw):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "alone").mkdir()
        wanted = undisturbed(folder / "alone")
        done = 0
        rounds = 0
        while done < kills or rounds == 0:
            rounds += 1
            place = folder / str(rounds)
            place.mkdir()
            arguments = run_arguments(place, block=draw.choice([1, 7, 0]))
            code = None
            while code != 0:
                finished = finished_rows(place / "checkpoint")
                (place / "computed").unlink(missing_ok=True)
                job = Job(draw.randrange(1, 5), JOB, *arguments)
                is_killed = done < kills
                if is_killed:
                    kill_somewhere(job, draw, place / "computed")
                    job.end_lone_launcher()
                    done += 1
                code, out, err = job.end()
                computed = rows_in(place / "computed")
                again = finished.intersection(computed)
                assert not again, f"finished rows were computed again: {sorted(again)[:9]}; {err}"
                assert len(set(computed)) == len(computed), "a row was computed twice in one job"
                assert is_killed or code == 0, f"an undisturbed job failed: {err}"
            assert (place / "results").read_bytes() == wanted, "other results than undisturbed"
            assert out.startswith(f"done {ROWS}, "), out
        print(f"{done} kills, {rounds} jobs finished", flush=True)


def test_checkpoints_that_will_not_do():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        undisturbed(folder)
        checkpoint = folder / "checkpoint"
        arguments = run_arguments(folder)
        (folder / "results").unlink()
        whole = contents(checkpoint)
        segment = checkpoint / next(name for name in whole if name.endswith(".log"))

        def refused(arguments, *words):
            before = contents(checkpoint)
            fails_with(Job(2, JOB, *arguments), "RankTeam: ", str(checkpoint), *words)
            assert contents(checkpoint) == before, "it was written to"
            assert not (folder / "results").exists()

        refused(run_arguments(folder, number=6), "another input (5, and here 6)")
        refused(run_arguments(folder, rows=ROWS + 1), f"another number of indices ({ROWS}")
        for size, word in ((100, "truncated"), (60, "header is damaged"), (0, "")):
            segment.write_bytes(whole[segment.name][:size])
            refused(arguments, word)
        damaged = bytearray(whole[segment.name])
        damaged[len(damaged.rstrip(b"\0")) // 2] ^= 1
        segment.write_bytes(bytes(damaged))
        fails_with(Job(2, JOB, *arguments), "RankTeam: ", segment.name)

        # What is cut off at the end is what a kill leaves: it is done again.
        data = whole[segment.name].rstrip(b"\0")
        segment.write_bytes(data[:len(data) * 2 // 3])
        (folder / "computed").unlink()
        finished = finished_rows(checkpoint)
        code, out, err = Job(3, JOB, *arguments).end()
        assert code == 0, err
        assert out == f"done {ROWS}, restored {len(finished)}\n" and 0 < len(finished) < ROWS, out
        assert sorted(rows_in(folder / "computed")) == sorted(set(range(ROWS)) - finished)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "checkpoint").write_text("a file of somebody's")
        fails_with(Job(2, JOB, *run_arguments(folder)), "RankTeam: ")
        assert (folder / "checkpoint").read_text() == "a file of somebody's"


def test_a_checkpoint_that_cannot_be_written():
    with tempfile.TemporaryDirectory() as name:
        arguments = run_arguments(Path(name))
        fails_with(Job(2, "env", "JOB_FILE_BYTES=4096", JOB, *arguments), "RankTeam: ",
                   "File too large")


def test_ranks_that_fail():
    fails_with(Job(1, JOB, "silent", ":", "-n", 1, OTHER_BUILD, "silent"),
               "runs another build of the program than rank 0")
    fails_with(Job(2, JOB, "silent"), "rank 1 on ", "has said nothing for 3 s")
    fails_with(Job(3, JOB, "leave"), "rank 1 gives up")
    fails_with(Job(2, JOB, "claim"), "a claim of the world's counter")
    fails_with(Job(2, JOB, "threads"), "the system refused the threads")


def test_canary():
    """A row that is computed again is found, and so is a rank that is left."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "computed"
        path.write_bytes((7).to_bytes(8, "little") * 2)
        assert rows_in(path) == [7, 7]
    job = Job(1, "sleep", "60")
    try:
        job.end(patience_s=2)
    except AssertionError as error:
        assert "goes on" in str(error)
    else:
        raise AssertionError("a job that goes on was not found")


def main():
    kills, seed = 20, random.randrange(1 << 32)
    arguments = sys.argv[1:]
    while arguments[0] in ("--kills", "--seed"):
        if arguments[0] == "--kills":
            kills = int(arguments[1])
        else:
            seed = int(arguments[1])
        arguments = arguments[2:]
    global JOB, OTHER_BUILD, MPIRUN
    JOB, OTHER_BUILD = arguments[:2]
    MPIRUN = arguments[3:]
    print(f"seed {seed}", flush=True)
    test_canary()
    test_ranks_that_fail()
    test_checkpoints_that_will_not_do()
    test_a_checkpoint_that_cannot_be_written()
    test_kills(kills, random.Random(seed))


if __name__ == "__main__":
    main()
