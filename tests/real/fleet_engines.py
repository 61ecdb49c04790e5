"""The engines under which a fleet of cores is asked, each set up on this machine for as long as a test runs: Dask's scheduler with worker processes,
sshd with two logins for GNU parallel, SLURM with one node. Each has a reason why it is not here (`why_no_…`), or None.

All of them run as they would anywhere: the processes of Debian's packages, over TCP on the loopback, with keys and folders of their own.
"""

import contextlib
import glob
import importlib.util
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

SOURCE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
PATIENCE = 60  # seconds that a service may take to begin
_SLURM_ALONE = (23, 11)  # from this version on it does without control groups, if it is told so


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def until(what, check, log=None):
    end = time.monotonic() + PATIENCE
    while not check():
        if time.monotonic() > end:
            said = open(log, errors="replace").read()[-2000:] if log and os.path.exists(log) else ""
            raise RuntimeError("%s did not come up: %s" % (what, said))
        time.sleep(0.1)


class Services:
    """Processes that end with the test, each by its own id."""

    def __init__(self, folder, environment):
        self.folder, self.environment, self.processes = folder, environment, []

    def start(self, name, command, **more):
        with open(os.path.join(self.folder, name + ".log"), "ab") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**self.environment, **more})
        self.processes.append(process)
        return process

    def log(self, name):
        return os.path.join(self.folder, name + ".log")

    def end(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextlib.contextmanager
def services(work, name, environment):
    folder = os.path.join(work, name)
    os.makedirs(folder, exist_ok=True)
    made = Services(folder, environment)
    try:
        yield made
    finally:
        made.end()


# The Python module, as its wheel has it

def make_site(heapsift, build, work):
    """A folder for PYTHONPATH, with bin/heapsift in it."""
    site = os.path.join(work, "site")
    os.makedirs(site)
    made = subprocess.run([sys.executable, os.path.join(SOURCE, "cli/python/make_wheel.py"), "--build", build, "--program", heapsift, "--output", site],
                          check=True, stdout=subprocess.PIPE, text=True)
    shutil.unpack_archive(made.stdout.strip(), site, "zip")
    os.makedirs(os.path.join(site, "bin"))
    shutil.copy(heapsift, os.path.join(site, "bin", "heapsift"))
    os.chmod(os.path.join(site, "bin", "heapsift"), 0o755)
    return site


# Dask

def why_no_dask():
    missing = [name for name in ("dask", "distributed", "fsspec") if importlib.util.find_spec(name) is None]
    return "%s: not installed (python3-distributed, python3-fsspec)" % ", ".join(missing) if missing else None


class Dask:
    """A scheduler and workers, each a process."""

    def __init__(self, made, memory=2 << 30):
        self.made, self.memory, self.workers = made, memory, []
        self.address = "tcp://127.0.0.1:%d" % free_port()
        self.scheduler = made.start("scheduler", [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", self.address, "--no-dashboard"])
        until("Dask's scheduler", lambda: "Scheduler at" in open(made.log("scheduler"), errors="replace").read(), made.log("scheduler"))

    def add_worker(self):
        name = "worker%d" % len(self.workers)
        self.workers.append(self.made.start(name, [
            sys.executable, "-m", "distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0",
            "--name", name, "--resources", "MEMORY=%d" % self.memory, "--local-directory", os.path.join(self.made.folder, name)]))
        return self.workers[-1]


class MemoryGroup:
    """A control group (version 1) with a limit of memory; `why_not` says why there can be none."""
    ROOT = "/sys/fs/cgroup/memory"

    def __init__(self, name):
        self.path = os.path.join(self.ROOT, name)
        os.mkdir(self.path)

    @classmethod
    def why_not(cls):
        if os.geteuid() != 0 or not os.access(os.path.join(cls.ROOT, "cgroup.procs"), os.W_OK):
            return "no control group of memory can be made here"
        return None

    def take(self, pid, limit):
        for name, value in (("memory.limit_in_bytes", limit), ("cgroup.procs", pid)):
            with open(os.path.join(self.path, name), "w") as file:
                file.write(str(value))

    def remove(self):
        with contextlib.suppress(OSError):
            os.rmdir(self.path)


def resident(pid):
    with open("/proc/%d/status" % pid) as file:
        return int(re.search(r"^VmRSS:\s+(\d+)", file.read(), re.M).group(1)) << 10


# ssh, for GNU parallel

def why_no_parallel():
    missing = [name for name, there in (("parallel", shutil.which("parallel")), ("ssh", shutil.which("ssh")), ("rsync", shutil.which("rsync")),
                                        ("openssh-server", os.path.exists("/usr/sbin/sshd"))) if not there]
    if "rsync" in missing:
        missing.remove("rsync")  # only to send cores
    if missing:
        return "%s: not installed" % ", ".join(missing)
    return None if os.geteuid() == 0 else "sshd is started as root here"


def start_sshd(made):
    """The options for `parallel` by which it reaches this machine as `alpha` and `beta`."""
    folder = made.folder
    for name in ("host", "login"):
        if not os.path.exists(os.path.join(folder, name)):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(folder, name)], check=True)
    port = free_port()
    os.makedirs("/run/sshd", exist_ok=True)
    with open(os.path.join(folder, "sshd_config"), "w") as file:
        file.write("Port %d\nListenAddress 127.0.0.1\nHostKey %s/host\nPidFile %s/sshd.pid\nAuthorizedKeysFile %s/login.pub\nStrictModes no\nUsePAM no\n"
                   "PermitRootLogin yes\nPasswordAuthentication no\nMaxStartups 50:30:100\nMaxSessions 50\nAcceptEnv HEAPSIFT_*\n"
                   "SetEnv PATH=%s\n" % (port, folder, folder, folder, made.environment["PATH"]))
    with open(os.path.join(folder, "ssh_config"), "w") as file:
        file.write("Host alpha beta\n  HostName 127.0.0.1\n  Port %d\n  User root\n  IdentityFile %s/login\n  IdentitiesOnly yes\n  BatchMode yes\n"
                   "  StrictHostKeyChecking no\n  UserKnownHostsFile %s/known\n  LogLevel ERROR\n" % (port, folder, folder))
    made.start("sshd", ["/usr/sbin/sshd", "-D", "-e", "-f", os.path.join(folder, "sshd_config")])
    ssh = ["ssh", "-F", os.path.join(folder, "ssh_config")]
    until("sshd", lambda: subprocess.run([*ssh, "alpha", "true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0,
          made.log("sshd"))
    return " ".join(ssh)


# SLURM

def why_no_slurm():
    missing = [name for name in ("sbatch", "slurmctld", "slurmd", "munged") if not shutil.which(name, path="/usr/bin:/usr/sbin")]
    if missing:
        return "%s: not installed (slurm-wlm, munge)" % ", ".join(missing)
    if slurm_version() < _SLURM_ALONE and not glob.glob("/sys/fs/cgroup/*"):
        return "SLURM before 23.11 needs control groups, and none are mounted here"
    return None if os.geteuid() == 0 else "SLURM is started as root here"


def slurm_version():
    said = subprocess.run(["/usr/sbin/slurmd", "-V"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout
    found = re.search(r"(\d+)\.(\d+)", said)
    return tuple(map(int, found.groups())) if found else (0, 0)


def start_slurm(made):
    """The environment in which sbatch, squeue and others reach it."""
    folder, name = made.folder, socket.gethostname().split(".")[0]
    for one in ("state", "spool"):
        os.makedirs(os.path.join(folder, one), exist_ok=True)
    os.chmod(folder, 0o755)
    with open(os.open(os.path.join(folder, "munge.key"), os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.write(os.urandom(1024))
    munge_socket = os.path.join(folder, "munge.socket")
    made.start("munged", ["/usr/sbin/munged", "-F", "--force", "--key-file=" + folder + "/munge.key", "--socket=" + munge_socket,
                          "--pid-file=" + folder + "/munged.pid", "--log-file=" + folder + "/munged.own.log", "--seed-file=" + folder + "/munged.seed"])
    until("munged", lambda: os.path.exists(munge_socket), made.log("munged"))
    with open("/proc/meminfo") as file:
        memory = int(re.search(r"MemTotal:\s+(\d+)", file.read()).group(1)) >> 10
    with open(os.path.join(folder, "slurm.conf"), "w") as file:
        file.write("""ClusterName=fleet
SlurmctldHost={name}(127.0.0.1)
SlurmUser=root
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={socket}
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=5,batch_sched_delay=1
ReturnToService=2
MinJobAge=300
NodeName={name} NodeAddr=127.0.0.1 CPUs={processors} RealMemory={memory}
PartitionName=main Nodes={name} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
""".format(name=name, controller=free_port(), node=free_port(), socket=munge_socket, folder=folder, processors=os.cpu_count(), memory=memory * 9 // 10))
    if slurm_version() >= _SLURM_ALONE:
        with open(os.path.join(folder, "cgroup.conf"), "w") as file:
            file.write("CgroupPlugin=disabled\n")
    environment = {**made.environment, "SLURM_CONF": os.path.join(folder, "slurm.conf")}
    made.start("slurmctld", ["/usr/sbin/slurmctld", "-D", "-i"], SLURM_CONF=environment["SLURM_CONF"])
    made.start("slurmd", ["/usr/sbin/slurmd", "-D", "-N", name], SLURM_CONF=environment["SLURM_CONF"])

    def is_idle():
        asked = subprocess.run(["sinfo", "-h", "-o", "%T"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return asked.stdout.strip() in ("idle", "mixed")
    until("SLURM", is_idle, made.log("slurmd"))
    return environment


def left_over(folder):
    """Files of tasks that should be gone."""
    return glob.glob(os.path.join(folder, "worker*", "**", "heapsift-*"), recursive=True)


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()
