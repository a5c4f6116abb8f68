# SPDX-License-Identifier: MIT
"""Commands as a person calls them: at a terminal."""

import os
import subprocess
import threading

# Written to the terminal after a program has ended, so that a reader knows that it has seen all.
END = b"\x00the end\x00"


def terminals_exist():
    """A bare chroot without /dev/pts has none."""
    try:
        for end in os.openpty():
            os.close(end)
    except OSError:
        return False
    return True


def seen_at_a_terminal(process, person, terminal):
    """What `process` writes to `terminal`, until it ends, read at the side of the person.

    The terminal stays open meanwhile: what is written just before the last program closes it may
    be lost. Both sides are closed afterwards.
    """
    def end():
        process.wait()
        os.write(terminal, END)

    seen = b""
    waits = threading.Thread(target=end)
    waits.start()
    while not seen.endswith(END):
        seen += os.read(person, 4096)
    waits.join()
    os.close(terminal)
    os.close(person)
    return seen.removesuffix(END).decode()


def call_at_a_terminal(answer, *command, **settings):
    """The exit code and what a person that types `answer` sees."""
    person, terminal = os.openpty()
    os.write(person, answer.encode())
    process = subprocess.Popen(list(map(str, command)), stdin=terminal, stdout=terminal,
                               stderr=terminal, **settings)
    seen = seen_at_a_terminal(process, person, terminal)
    return process.returncode, seen
