# SPDX-License-Identifier: MIT
"""handoff-copy beside `cp -a`: random trees, copied by both, must be the same afterwards, but for
what docs/guide/files.md lists. Each file system that there is, as root and as a user, with and
without /proc, with few descriptors and many, in four modes."""

import collections
import itertools
import os
import random
import resource
import shutil
import socket
import stat
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(os.environ["HANDOFF_PROGRAM"]).parent / "handoff-copy"
DEEP = os.environ.get("HANDOFF_TEST_DEEP") == "1"
SEED = int(os.environ.get("HANDOFF_TEST_SEED", random.randrange(1 << 30)))
ROOT = os.geteuid() == 0
USER = 65534
ACCESS_LIST = "system.posix_acl_access"

MODES = ((), ("--durable",), ("--verify",), ("--durable", "--verify"))
PROCS = (True, False)
DESCRIPTORS = (32, 100, 1024)
Place = collections.namedtuple("Place", "name folder")  # a file system to copy in


def access_list(*entries):
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


class Tree:
    """A random tree below a folder; `other` gives another one with the same names."""

    NAMES = [b"a", b"b", b"c-d", b" ", b"new\nline", b"\xff\xfe", "\u20ac".encode() * 20, b"-rf",
             b"x" * 200, b".hidden", b"q'\"\\"]
    SIZES = [0, 1, 100, 4096, 65536, 131072, 131073, 300000]

    def __init__(self, folder, seed, other=False):
        self.kinds = random.Random(seed)  # names and kinds: the same for the other one
        self.contents = random.Random(f"{seed} {other}")
        self.files = []
        self.folder(os.fsencode(folder), 3)

    def folder(self, path, depth):
        os.makedirs(path, exist_ok=True)
        for name in self.kinds.sample(self.NAMES, self.kinds.randint(2, 7)):
            at = path + b"/" + name
            kind = self.kinds.random()
            if depth > 0 and kind < 0.35:
                self.folder(at, depth - 1)
            else:
                self.entry(at, kind)
        self.attributes(path, os.lstat(path).st_mode)

    def entry(self, path, kind):
        one = self.contents
        if kind < 0.75:
            if self.files and kind > 0.68:
                os.link(self.kinds.choice(self.files), path)
                return
            self.file(path)
            self.files.append(path)
        elif kind < 0.85:
            os.symlink(one.choice([b"nowhere", b"/", b"a", b"t" * 300]), path)
        elif kind < 0.92:
            os.mkfifo(path)
        elif kind < 0.95:
            with socket.socket(socket.AF_UNIX) as server:
                folder = os.open(os.path.dirname(path), os.O_RDONLY)
                server.bind(b"/proc/self/fd/%d/%s" % (folder, os.path.basename(path))
                            if len(os.path.basename(path)) < 60 else b"\0not bound")
                os.close(folder)
            if not os.path.lexists(path):
                os.mkfifo(path)
        elif ROOT:
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, one.choice([3, 5, 7])))
        else:
            self.file(path)
        self.attributes(path, os.lstat(path).st_mode)

    def file(self, path):
        one = self.contents
        size = one.choice(self.SIZES)
        with open(path, "wb") as file:
            if one.random() < 0.3:
                file.truncate(size + one.randrange(2000000))
                file.seek(one.randrange(2000000))
            file.write(one.randbytes(size))

    def attributes(self, path, mode):
        one = self.contents
        if ROOT:
            owner = one.choice([0, USER, 1234])
            os.lchown(path, owner, one.choice([0, USER, 1234]))
        if not stat.S_ISLNK(mode):
            bits = one.choice([0o644, 0o600, 0o640, 0o664, 0o755, 0o4755, 0o2755, 0o604])
            if stat.S_ISDIR(mode):
                bits = one.choice([0o755, 0o775, 0o2755, 0o1777, 0o750])
            os.chmod(path, bits)
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            self.extended(path, b"user.note", one.randbytes(20), 0.3)
            none = 0xffffffff
            rights = [(1, 7, none), (2, one.randrange(8), 4242), (4, one.randrange(8), none),
                      (0x10, one.randrange(8), none), (0x20, one.randrange(8), none)]
            self.extended(path, ACCESS_LIST, access_list(*rights), 0.2)
            if stat.S_ISDIR(mode):
                self.extended(path, "system.posix_acl_default", access_list(*rights), 0.1)
        # Newer than the last change: so no reading changes it.
        os.utime(path, ns=(2 * 10**18, 10**18 + one.randrange(10**15)), follow_symlinks=False)

    def extended(self, path, key, value, share):
        if self.contents.random() >= share:
            return
        try:
            os.setxattr(path, key, value)
        except OSError:  # this file system has none
            pass


def described(folder):
    """Everything below it: path -> what it is; and which paths are one file."""
    top = os.fsencode(folder)
    entries = {}
    files = {}
    pending = [top]
    while pending:
        path = pending.pop()
        is_ = os.lstat(path)
        name = path[len(top):]
        kind = stat.S_IFMT(is_.st_mode)
        entry = {"kind": kind, "mode": stat.S_IMODE(is_.st_mode), "owner": is_.st_uid,
                 "group": is_.st_gid, "mtime": is_.st_mtime_ns, "atime": is_.st_atime_ns,
                 "device": is_.st_rdev}
        # xfs shows its lists once more, to root, as it stores them.
        entry["attributes"] = {key: os.getxattr(path, key, follow_symlinks=False)
                               for key in os.listxattr(path, follow_symlinks=False)
                               if not key.startswith("trusted.SGI_ACL")}
        if kind == stat.S_IFDIR:
            pending += [path + b"/" + name for name in os.listdir(path)]
        elif kind == stat.S_IFLNK:
            entry["target"] = os.readlink(path)
        elif kind == stat.S_IFREG:
            with open(path, "rb") as file:
                entry["contents"] = hash(file.read())
            entry["size"], entry["blocks"] = is_.st_size, is_.st_blocks
        if kind != stat.S_IFDIR:
            files.setdefault(is_.st_ino, set()).add(name)
        entries[name] = entry
    entries[b""].update(mtime=0, atime=0)  # where the copies are put
    return entries, sorted(sorted(names) for names in files.values() if len(names) > 1)


def run_quietly(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def places(stack):
    """What can be had here, and why the rest cannot."""
    found, missing = [], []
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    held = tempfile.TemporaryDirectory(dir=memory)
    stack(held.cleanup)
    if memory is not None:
        found.append(Place("tmpfs", Path(held.name) / "tmpfs"))
        found[0].folder.mkdir()
    options = {"xfs": ["-q"], "btrfs": ["-q"], "ext4": ["-q", "-F"], "vfat": []}
    for kind in ("ext4", "xfs", "btrfs", "vfat"):
        if not ROOT or shutil.which(f"mkfs.{kind}", path="/usr/sbin:/sbin:/usr/bin:/bin") is None:
            missing.append(f"{kind}: " + ("there is no mkfs of it" if ROOT else "needs root"))
            continue
        image, folder = Path(held.name) / f"{kind}.img", Path(held.name) / kind
        folder.mkdir()
        with open(image, "wb") as file:
            file.truncate(400 << 20)
        if not (run_quietly(f"mkfs.{kind}", *options[kind], image)
                and run_quietly("mount", "-o", "loop", image, folder)):
            missing.append(f"{kind}: cannot be mounted here")
            continue
        stack(lambda folder=folder: subprocess.run(["umount", "-l", folder], check=True))
        found.append(Place(kind, folder))
    if not any(place.name == "ext4" for place in found):
        folder = tempfile.TemporaryDirectory()
        stack(folder.cleanup)
        found.append(Place("the temporary folder", Path(folder.name)))
    os.chmod(held.name, 0o755)
    return found, missing


def can_hide_proc():
    return ROOT and run_quietly("unshare", "-m", "mount", "-t", "tmpfs", "none", "/proc")


def narrowed(list_):
    """Of a list: the owner's group gets no more than others, and others no more than it had."""
    entries = [list(struct.unpack_from("<HHI", list_, at)) for at in range(4, len(list_), 8)]
    rights = {entry[0]: entry[1] for entry in entries if entry[0] not in (2, 8)}
    others = rights[0x20] & rights[4] & rights.get(0x10, 7)
    for entry in entries:
        if entry[0] == 4:
            entry[1] &= rights[0x20]
        elif entry[0] == 0x20:
            entry[1] = others
    return access_list(*entries), others


def listed(source, cp, user):
    """What handoff-copy makes where cp makes this: differences that the guide lists."""
    ours = dict(cp)
    if source is None or source["kind"] == stat.S_IFLNK:
        return ours
    kept = (cp["owner"], cp["group"]) == (source["owner"], source["group"])
    # Whatever there was, and the directory says that it is made in; for special files as well.
    special = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX
    ours["mode"] &= ~special
    ours["mode"] |= source["mode"] & (special if kept else stat.S_ISVTX)
    if source["kind"] == stat.S_IFREG:  # another file than the one that was there
        ours["attributes"] = {key: value for key, value in cp["attributes"].items()
                              if key in source["attributes"]}
    if user == 0 or cp["group"] == source["group"]:
        return ours
    list_ = ours["attributes"].get(ACCESS_LIST)
    if list_ is None:
        alike = ours["mode"] & ours["mode"] >> 3 & 7
        ours["mode"] = ours["mode"] & ~0o77 | alike << 3 | alike
    else:
        list_, others = narrowed(list_)
        ours["attributes"] = {**ours["attributes"], ACCESS_LIST: list_}
        ours["mode"] = ours["mode"] & ~7 | others
    return ours


class BesideCp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        print(f"seed {SEED} (HANDOFF_TEST_SEED)", flush=True)
        os.umask(0)
        cls.places, missing = places(cls.addClassCleanup)
        for one in missing:
            print(f"not beside cp on {one}", flush=True)
        cls.hides_proc = can_hide_proc()
        if not cls.hides_proc:
            print("not without /proc: it cannot be hidden here", flush=True)

    def as_user(self, command, user):
        if user == os.geteuid():
            return command
        return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]

    def copy(self, program, sources, target, user, proc=True, descriptors=1024):
        command = self.as_user([program, *sources, target], user)
        if not proc:
            command = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh",
                       *command]
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
        return subprocess.run(list(map(os.fsencode, command)), capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, preexec_fn=limit, timeout=120)

    def assert_same(self, ours, cp, source, user):
        self.assertEqual(set(ours[0]), set(cp[0]))
        self.assertEqual(ours[1], cp[1], "hard links")
        for name, entry in cp[0].items():
            is_, wanted = dict(ours[0][name]), listed(source(name), entry, user)
            self.assertLessEqual(is_.pop("blocks", 0), wanted.pop("blocks", 0) + 256, name)
            self.assertEqual(is_, wanted, name)

    def targets(self, place, shape, seed, user):
        """Where cp copies to, and where handoff-copy does: the same before."""
        made = []
        for name in ("cp", "own"):
            folder = place.folder / name
            subprocess.run(["rm", "-rf", folder], check=True)
            folder.mkdir()
            if shape == "merged":
                Tree(folder / "to", seed, other=True)
            elif shape == "into":
                (folder / "to").mkdir()
            if user != 0 and ROOT:
                subprocess.run(["chown", "-hR", f"{user}:{user}", folder], check=True)
            made.append(folder / "to")
        return made

    def make_readable(self, tree, user):
        """Whatever the mode or the list keeps from this user becomes its own."""
        find = ["find", tree, "!", "-type", "l", "(", "!", "-readable", "-o", "-type", "d", "!",
                "-executable", ")", "-prune", "-print0"]
        for _ in range(100):  # a pass a level of the tree
            paths = subprocess.run(self.as_user(find, user), check=True,
                                   stdout=subprocess.PIPE).stdout.split(b"\0")[:-1]
            if not paths:
                return
            for path in paths:
                os.chown(path, user, user)
                os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) | 0o500)
        self.fail("the tree cannot be made readable")

    def sources_of(self, shape, tree):
        if shape == "new":
            return [tree]
        if shape == "merged":
            return [f"{tree}/."]
        return [Path(os.fsdecode(os.fsencode(tree) + b"/" + name))
                for name in os.listdir(os.fsencode(tree))]

    def compare(self, place, shape, user, seed, ways):
        tree = place.folder / "from"
        subprocess.run(["rm", "-rf", tree], check=True)
        Tree(tree, seed)
        if user != 0:  # what it cannot read is another question
            self.make_readable(tree, user)
            if shape == "merged":  # cp would remove the old one before it cannot make the new one
                subprocess.run(["find", tree, "-type", "c", "-delete"], check=True)
        before = described(tree)[0]
        sources = self.sources_of(shape, tree)
        cp_target, own_target = self.targets(place, shape, seed, user)
        said = self.copy("cp", ["-a", *sources], cp_target, user)
        cp = described(cp_target)
        for flags, proc, descriptors in ways:
            with self.subTest(place=place.name, shape=shape, user=user, seed=seed, flags=flags,
                              proc=proc, descriptors=descriptors):
                _, own_target = self.targets(place, shape, seed, user)
                done = self.copy(PROGRAM, [*flags, "--", *sources], own_target, user, proc,
                                 descriptors)
                self.assertEqual(done.returncode, said.returncode, done.stderr + said.stderr)
                # In "into" the folder itself is none of the copies.
                source = lambda name: before.get(name) if name or shape != "into" else None
                self.assert_same(described(own_target), cp, source, user)

    def test_random_trees_are_the_same(self):
        users = (0, USER) if ROOT else (os.geteuid(),)
        all_ways = [way for way in itertools.product(MODES, PROCS, DESCRIPTORS)
                    if way[1] or self.hides_proc]
        chosen = random.Random(SEED)
        for round_ in range(10 if DEEP else 1):
            for place, shape, user in itertools.product(self.places, ("new", "into", "merged"),
                                                        users):
                ways = all_ways if DEEP else chosen.sample(all_ways, 8)
                self.compare(place, shape, user, SEED + round_, ways)

    def test_canary_each_difference_is_seen(self):
        place = self.places[0]
        tree = place.folder / "from"
        changes = {
            "contents": lambda path: path.write_bytes(b"other"),
            "mode": lambda path: path.chmod(0o611),
            "time": lambda path: os.utime(path, (1, 1)),
            "another": lambda path: (path.parent / "more").write_bytes(b""),
            "less": lambda path: path.unlink(),
            "linked": lambda path: os.link(path, path.parent / "linked"),
        }
        for change in changes.values():
            subprocess.run(["rm", "-rf", tree], check=True)
            Tree(tree, 1)
            before = described(tree)
            # rglob() stops at a link to a name that is too long.
            paths = sorted(Path(folder, name) for folder, _, names in os.walk(tree)
                           for name in names)
            change(next(path for path in paths if stat.S_ISREG(path.lstat().st_mode)))
            with self.assertRaises(AssertionError):
                self.assert_same(described(tree), before, lambda name: None, 0)
