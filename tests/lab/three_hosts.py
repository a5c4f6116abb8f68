# SPDX-License-Identifier: MIT
"""Three hosts of a test's own: network namespaces with an address each, on a bridge in a fourth.
They share files and processes with this machine, so a test sees what is left on any of them."""

import os
import subprocess
import unittest

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

    def slow_down(self, number, delay):
        done = subprocess.run(
            ["ip", "netns", "exec", f"{self.prefix}-{self.addresses[number]}", "tc", "qdisc", "add",
             "dev", "lan", "root", "netem", "delay", delay], text=True, capture_output=True)
        if done.returncode != 0:
            raise unittest.SkipTest(f"this kernel delays nothing: {done.stderr.strip()}")
