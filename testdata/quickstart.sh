#!/usr/bin/env bash
# From a fresh Debian 12 or 13 to an answer: installs what the build needs, builds heapsift, starts a Python process that leaks,
# takes its core, and shows what heapsift says about it.
#
#     bash testdata/quickstart.sh          the process is testdata/programs/views.py: about 1.3 GiB of memory, and as much disk
#     bash testdata/quickstart.sh CORE     analyses that core instead
#
# If it was interrupted, run it again: it continues where it stopped, and skips what is done.
set -euo pipefail
asked_core=
usage='usage: bash testdata/quickstart.sh [CORE]'
case ${1:-} in -h | --help) echo "$usage"; exit 0 ;; esac
if [ $# -gt 1 ]; then echo "$usage" >&2; exit 2; fi
if [ $# = 1 ]; then
    [ -e "$1" ] || { echo "$1: no such file; give a core, or nothing to make one" >&2; exit 2; }
    [ -f "$1" ] || { echo "$1: not a file; give a core, or nothing to make one" >&2; exit 2; }
    asked_core=$(realpath -- "$1")
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
here=$PWD
work=$here/build/quickstart
mkdir -p "$work" || exit 1
log=$work/log
unset DEBUGINFOD_URLS  # else gdb asks the network about every library
# shellcheck source=testdata/steps.sh
. testdata/steps.sh

build_packages=(g++ cmake ninja-build pkg-config llvm-19-dev libelf-dev libdw-dev libcli11-dev libboost-graph-dev libfmt-dev
    nlohmann-json3-dev libsqlite3-dev libzstd-dev liblzma-dev liblz4-dev zlib1g-dev libxxhash-dev
    libunicorn-dev)
program_packages=(python3 python3-numpy gdb)
heapsift=$here/build/release/heapsift

main() {
    : >"$log"
    check_machine
    local packages=("${build_packages[@]}")
    if [ -z "$asked_core" ]; then packages+=("${program_packages[@]}"); fi
    step 1/4 packages "packages: the compiler and the libraries${asked_core:-, Python with NumPy, gdb}"
    install_packages "${packages[@]}"
    step 2/4 build "build: heapsift, with $(build_jobs) compilers at a time"
    build_heapsift
    if [ -n "$asked_core" ]; then
        core=$asked_core
        step 3/4 core "core: yours, $core"
    else
        step 3/4 core "core: of a Python process that leaks, testdata/programs/views.py"
        make_core
    fi
    end_step
    say
    printf '[4/4] the answer (%s): %q %q\n' "$times" "$heapsift" "$core"
    say
    answer
}

# As if heapsift were on the PATH already, so that its hints name no long path.
answer() {
    local status=0
    PATH=$(dirname "$heapsift"):$PATH heapsift "$core" || status=$?
    if [ $status = 0 ] || [ $status = 3 ]; then
        say
        say "To go on:  export PATH=$(printf %q "$(dirname "$heapsift")"):\$PATH"
    fi
    exit $status
}

# With the tests, if test.sh has asked for them.
build_heapsift() {
    local options=()
    if [ ! -f build/release/CMakeCache.txt ]; then options=(-DHEAPSIFT_TESTS=OFF); fi
    configure release "${options[@]}"
    build release heapsift
}

make_core() {
    core=$work/core.views
    if [ -f "$core" ]; then
        say "    there is one from an earlier run"
        return
    fi
    rm -f "$work"/taken* "$work"/core "$work"/core.[0-9]*
    say "    starting it; it makes 1.1 GiB of arrays …"
    start_program
    say "    process $pid runs; gcore takes its core …"
    if gcore -o "$work/taken" "$pid" >>"$log" 2>&1 </dev/null && [ -s "$work/taken.$pid" ]; then
        mv "$work/taken.$pid" "$core"
        stop_program
    else
        say "    gcore could not take it (is ptrace forbidden here?); the kernel takes the core instead, when the process aborts …"
        local status=0
        kill -ABRT "$pid" 2>/dev/null || die "The program ended while gcore took its core; see $log"
        wait "$pid" 2>/dev/null || status=$?
        trap - EXIT
        [ $status = $((128 + 6)) ] || die "The program did not end by the signal that makes a core (exit $status); see $work/said"
        local found
        found=$(find "$work" -maxdepth 1 -name 'core*' -size +1M | head -n 1)
        [ -n "$found" ] || die "No core was written either: core_pattern is '$(cat /proc/sys/kernel/core_pattern)'.
Take one elsewhere and give it: bash testdata/quickstart.sh CORE"
        mv "$found" "$core"
    fi
    say "    $core, $(du -h --apparent-size "$core" | cut -f1)"
}

# In the background, in $work, allowed to dump core; returns when it has printed its id, and so its heap no longer changes.
start_program() {
    : >"$work/said"
    (cd "$work" && ulimit -c unlimited 2>/dev/null; exec /usr/bin/python3 -B "$here/testdata/programs/views.py") >"$work/said" 2>&1 </dev/null &
    pid=$!
    trap stop_program EXIT
    while ! grep -qx "$pid" "$work/said"; do
        kill -0 "$pid" 2>/dev/null || die "The program ended before it was ready: $(tail -n 1 "$work/said")
It needs some 1.3 GiB of memory; here are $(awk '/^MemAvailable/ {printf "%.1f", $2 / 1048576}' /proc/meminfo) GiB."
        sleep 0.2
    done
}

# shellcheck disable=SC2317  # called when the script is interrupted
clean_up() {
    if [ -n "${pid:-}" ]; then stop_program; fi
    rm -f "$work"/taken* "$work"/core "$work"/core.[0-9]*
}

stop_program() {
    trap - EXIT
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

main
