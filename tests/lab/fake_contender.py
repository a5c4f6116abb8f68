# SPDX-License-Identifier: MIT
"""A contender that takes no time: it speaks the lab's protocol, answers as `spawn` wants it, and
says how long that took."""

import json
import stat
import sys

# It notes which of its layouts was started, and does as it is told before it says anything.
PROGRAM = f"""#!{sys.executable}
import os, random, signal, socket, sys
name = os.path.basename(sys.argv[0])
with open(LOG, "a") as log:
    log.write(name + "\\n")
launch = len(open(LOG).readlines())
FIRST
channel = socket.socket(fileno=3)
for line in channel.makefile():
    word = line.split()[0]
    if word == "burst":
        os.pwrite(5, (50).to_bytes(8, "little"), 0)
        wall = TIME * random.uniform(0.998, 1.002)
        if OBEYS:
            wall *= 1 + float(os.environ.get("HANDOFF_PLANTED_PERCENT", "0")) / 100
        channel.sendall(b"done %d 1 1 50\\n" % wall)
    else:
        channel.sendall({{"prepare": b"ready 1\\n", "stop": b"stopped 1\\n"}}[word])
"""
LAYOUTS = [f"layout{number}" for number in range(4)]


def write_contender(folder, *times, name="own.fake", obeys=True, first=""):
    """Its layouts take these times in turn, in ns. `folder` has a list for --manifest then, with
    all that were written there."""
    program = folder / name
    program.mkdir(parents=True)
    for at, layout in enumerate(LAYOUTS):
        path = program / layout
        path.write_text(PROGRAM.replace("LOG", repr(str(folder / f"{name}.log")))
                        .replace("TIME", str(times[at % len(times)]))
                        .replace("FIRST", first).replace("OBEYS", str(obeys)))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    manifest = folder / "contenders.json"
    known = json.loads(manifest.read_text())["contenders"] if manifest.exists() else []
    known.append({"scenario": "spawn", "name": name, "package": "", "when": {},
                  "executable": [f"{name}/{layout}" for layout in LAYOUTS]})
    manifest.write_text(json.dumps({"contenders": known}))
    return manifest


def launched(folder, name="own.fake"):
    """The layouts that were started, one after the other."""
    log = folder / f"{name}.log"
    return log.read_text().split() if log.exists() else []
