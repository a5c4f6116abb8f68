# SPDX-License-Identifier: MIT
"""Commands as a person calls them: at a terminal."""

import contextlib
import os
import subprocess


def terminals_exist():
    """A bare chroot without /dev/pts has none."""
    try:
        for end in os.openpty():
            os.close(end)
    except OSError:
        return False
    return True


def call_at_a_terminal(answer, *command, **settings):
    """The exit code and what a person sees who types `answer`."""
    person, terminal = os.openpty()
    os.write(person, answer.encode())
    with subprocess.Popen(list(map(str, command)), stdin=terminal, stdout=terminal,
                          stderr=terminal, **settings) as process:
        os.close(terminal)
        seen = b""
        with contextlib.suppress(OSError):  # how the end of a terminal is told
            while part := os.read(person, 4096):
                seen += part
    os.close(person)
    return process.returncode, seen.decode()
