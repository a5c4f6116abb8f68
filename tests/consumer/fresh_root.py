# SPDX-License-Identifier: MIT
"""A machine that has nothing but Debian's minbase, a compiler and CMake.

The base is made once by debootstrap and kept; each FreshRoot is a layer above it (overlayfs) that
is thrown away. It takes root's rights, and Debian's archive to make the base: where they are not to
be had, Missing says so.
"""

import fcntl
import os
import shlex
import shutil
import subprocess
from pathlib import Path

TOOLS = ("g++", "cmake", "ninja-build", "pkg-config", "liburing-dev", "ca-certificates")
# Mounts end with the namespace, whatever ends it.
ENTER = """mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
mount -t proc proc "$2/root/proc"
cd "$2/root" && shift 2 && exec chroot . /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 \
DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
"""


class Missing(Exception):
    """Why there can be no fresh root here."""


def call(*command, **keywords):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          check=False, **keywords)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def base(kept):
    """The folder below `kept` with the base; of this Debian, as what is built here links with its
    libraries."""
    if os.geteuid() != 0:
        raise Missing("it takes root's rights")
    if not shutil.which("debootstrap"):
        raise Missing("it takes debootstrap")
    mounts = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True,
                            check=False)
    if mounts.returncode != 0:  # in a chroot whose root is no mount point, for one
        raise Missing(f"it takes mounts of its own: {mounts.stderr.strip()}")
    lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    suite = dict(line.split("=", 1) for line in lines if "=" in line)["VERSION_CODENAME"]
    made, making = kept / f"minbase-{suite}", kept / f"minbase-{suite}.part"
    with open(kept / "minbase.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(making, ignore_errors=True)
            done = subprocess.run(["debootstrap", "--variant=minbase",
                                   f"--include={','.join(TOOLS)}", suite, making],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Missing(f"debootstrap failed: {(done.stdout + done.stderr).strip()[-300:]}")
            (making / "etc/dpkg/dpkg.cfg.d/soon").write_text("force-unsafe-io\n", encoding="utf-8")
            (making / "etc/apt/apt.conf.d/yes").write_text(
                'APT::Get::Assume-Yes "yes";\nAPT::Install-Recommends "no";\n', encoding="utf-8")
            making.rename(made)
    return made


class FreshRoot:
    def __init__(self, kept, folder):
        """Its layer lies in `folder`."""
        self.base, self.folder = base(kept), Path(folder)
        for name in ("upper", "work", "root"):
            (self.folder / name).mkdir()

    def path(self, path):
        """Where a file lies that is put into it."""
        return self.folder / "upper" / path.lstrip("/")

    def call(self, *command, **keywords):
        """Runs a command in it, and gives what it prints."""
        return call("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", ENTER,
                    "sh", self.base, self.folder, *command, **keywords)

    def apt_install(self, *packages):
        try:
            self.call("apt-get", "update")
        except AssertionError as told:
            raise Missing(f"apt-get update failed: {str(told)[-300:]}") from told
        self.call("apt-get", "install", *packages)
