"""Control groups with a limit of memory, of version 1 or 2, where they can be made."""

import os
import time


class Group:
    """A control group of version 1 or 2 with a limit, or None of `make` where none can be made."""

    def __init__(self, folder, version):
        self.folder, self.version = folder, version

    @staticmethod
    def make(name, limit):
        for root, version in memory_roots():
            folder = os.path.join(root, "heapsift-%s-%d" % (name, os.getpid()))
            try:
                os.mkdir(folder)
                group = Group(folder, version)
                group.limit(limit)
                group.write("memory.swappiness" if version == 1 else "memory.swap.max", 0, optional=True)
                return group
            except OSError:
                if os.path.isdir(folder):
                    os.rmdir(folder)
        return None

    def write(self, name, value, optional=False):
        try:
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(str(value))
        except OSError:
            if not optional:
                raise

    def below(self, name):
        """A group in it, without a limit of its own."""
        os.mkdir(os.path.join(self.folder, name))
        return Group(os.path.join(self.folder, name), self.version)

    def limit(self, limit):
        """None: no more."""
        none = {1: -1, 2: "max"}[self.version]
        self.write("memory.limit_in_bytes" if self.version == 1 else "memory.max", none if limit is None else limit)

    def rename(self):
        """False where the kernel does not (version 2)."""
        try:
            os.rename(self.folder, self.folder + "-renamed")
        except OSError:
            return False
        self.folder += "-renamed"
        return True

    def enter(self, pid=None):
        self.write("cgroup.procs", pid or os.getpid())

    def peak(self):
        with open(os.path.join(self.folder, "memory.max_usage_in_bytes" if self.version == 1 else "memory.peak")) as file:
            return int(file.read())

    def remove(self):
        for _ in range(100):
            try:
                os.rmdir(self.folder)
                return
            except OSError:
                time.sleep(0.05)


def memory_roots():
    """(folder in which groups may be made, version)."""
    with open("/proc/mounts") as file:
        mounts = [line.split() for line in file]
    for _, place, kind, options, *_ in mounts:
        if kind == "cgroup" and "memory" in options.split(","):
            yield place, 1
    for _, place, kind, *_ in mounts:
        if kind == "cgroup2":
            try:
                with open(place + "/cgroup.subtree_control") as file:
                    if "memory" in file.read().split():
                        yield place, 2
            except OSError:
                pass
