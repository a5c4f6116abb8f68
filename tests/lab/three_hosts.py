# SPDX-License-Identifier: MIT
"""Three hosts of a test's own: network namespaces with an address each, on a bridge in a fourth.
They share files and processes with this machine, so a test sees what is left on any of them.

    three_hosts.py MILLISECONDS COMMAND...

runs a command on the first of them, where the environment has AGENT and HOSTS for mpirun, and the
others are so far away."""

import collections
import ctypes
import fcntl
import os
import select
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

# What mpirun reaches another host by, in place of ssh: AGENT ADDRESS COMMAND... Names differ before
# the first dot: by that part Open MPI names its folder, and these hosts have one /tmp.
AGENT = """#!/bin/sh
address=$1
shift
exec ip netns exec {prefix}-$address unshare --uts sh -c "hostname host-${{address##*.}}; exec $*"
"""


class ThreeHosts:
    """Raises unittest.SkipTest where they are not permitted."""

    def __init__(self, folder):
        self.prefix = f"handoff-{os.getpid()}"
        self.addresses = [f"10.213.77.{i}" for i in range(1, 4)]
        self.wires = []
        self.agent = folder / "agent"
        self.agent.write_text(AGENT.format(prefix=self.prefix))
        self.agent.chmod(0o755)
        try:
            self.make()
        except (OSError, subprocess.CalledProcessError) as error:
            self.remove()
            raise unittest.SkipTest(f"no network namespaces here: {error}") from error

    def make(self):
        switch = f"{self.prefix}-switch"
        self.ip("netns", "add", switch)
        self.ip("-n", switch, "link", "add", "bridge", "type", "bridge")
        self.ip("-n", switch, "link", "set", "bridge", "up")
        for number, address in enumerate(self.addresses):
            host = f"{self.prefix}-{address}"
            port = f"port{number}"
            self.ip("netns", "add", host)
            self.ip("-n", switch, "link", "add", port, "type", "veth", "peer", "name", "lan",
                    "netns", host)
            self.ip("-n", switch, "link", "set", port, "master", "bridge", "up")
            self.ip("-n", host, "address", "add", f"{address}/24", "dev", "lan")
            for link in ("lo", "lan"):
                self.ip("-n", host, "link", "set", link, "up")

    def remove(self):
        for wire in self.wires:
            wire.cut()
        for name in ("switch", *self.addresses):
            subprocess.run(["ip", "netns", "delete", f"{self.prefix}-{name}"], capture_output=True)

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True)

    def command(self):
        """Words before those of a command that is to run on the first host."""
        return [self.agent, self.addresses[0]]

    def cut_off(self, number):
        self.ip("-n", f"{self.prefix}-switch", "link", "set", f"port{number}", "down")

    def slow_down(self, number, delay_s):
        """From now on each frame to or from this host takes so long."""
        host, switch = f"{self.prefix}-{self.addresses[number]}", f"{self.prefix}-switch"
        self.ip("-n", host, "link", "delete", "lan")
        wire = SlowWire((host, "lan"), (switch, f"port{number}"), delay_s)
        self.wires.append(wire)
        self.ip("-n", switch, "link", "set", f"port{number}", "master", "bridge", "up")
        self.ip("-n", host, "address", "add", f"{self.addresses[number]}/24", "dev", "lan")
        self.ip("-n", host, "link", "set", "lan", "up")


class SlowWire:
    """Two network devices, in namespaces of their own; what enters one leaves the other late. (Not
    every kernel has netem.)"""

    def __init__(self, one, other, delay_s):
        self.is_cut = False
        self.ends = []
        self.thread = threading.Thread(target=self.carry, args=(one, other, delay_s))
        self.has_ends = threading.Event()
        self.thread.start()
        self.has_ends.wait()
        if len(self.ends) < 2:
            self.cut()
            raise unittest.SkipTest(f"no device of a test's own here: {self.error}")

    def cut(self):
        self.is_cut = True
        self.thread.join()

    def carry(self, one, other, delay_s):
        try:
            self.ends += [new_device(*one), new_device(*other)]
        except OSError as error:
            self.error = error
        self.has_ends.set()
        under_way = collections.deque()  # (when it is there, the end where it leaves, a frame)
        while not self.is_cut:
            rest = under_way[0][0] - time.monotonic() if under_way else 0.1
            for end in select.select(self.ends, [], [], max(rest, 0))[0]:
                leaves = self.ends[1 if end == self.ends[0] else 0]
                under_way.append((time.monotonic() + delay_s, leaves, os.read(end, 1 << 16)))
            while under_way and under_way[0][0] <= time.monotonic():
                _, leaves, frame = under_way.popleft()
                try:
                    os.write(leaves, frame)
                except OSError:  # a device that is down takes none
                    pass
        for end in self.ends:
            os.close(end)


def new_device(namespace, name):
    """An Ethernet device there, as a descriptor; the calling thread moves to that namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{namespace}", "rb") as place:
        if libc.setns(place.fileno(), 0x40000000) != 0:  # CLONE_NEWNET
            raise OSError(ctypes.get_errno(), "setns")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    is_tap_without_header = 0x0002 | 0x1000
    try:
        fcntl.ioctl(device, 0x400454CA,  # TUNSETIFF
                    struct.pack("16sH22x", name.encode(), is_tap_without_header))
    except OSError:
        os.close(device)
        raise
    return device


def main():
    with tempfile.TemporaryDirectory() as folder:
        hosts = ThreeHosts(Path(folder))
        try:
            for number in (1, 2):
                hosts.slow_down(number, float(sys.argv[1]) / 1e3)
            environment = {**os.environ, "AGENT": str(hosts.agent),
                           "HOSTS": ",".join(hosts.addresses)}
            done = subprocess.run([*hosts.command(), *sys.argv[2:]], env=environment)
        finally:
            hosts.remove()
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
