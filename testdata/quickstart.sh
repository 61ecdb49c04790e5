#!/usr/bin/env bash
# From a fresh Debian to an answer: takes heapsift from a package (testdata/package.sh makes them), or else, on Debian 12 and 13,
# installs what the build needs and builds it; starts a Python process that leaks, takes its core, and shows what heapsift says about it.
#
#     bash testdata/quickstart.sh               the process is testdata/programs/views.py: about 1.3 GiB of memory, and as much disk
#     bash testdata/quickstart.sh CORE          analyses that core instead
#     bash testdata/quickstart.sh PACKAGE …     with heapsift from that .deb or .tar.gz. Without it, from one that lies beside this script,
#                                               in the checkout's top folder, or, if no source is newer, in build/packages
#
# A package is only unpacked into build/quickstart, not installed.
# If it was interrupted, run it again: it continues where it stopped, and skips what is done.
set -euo pipefail
asked_core='' package=''
usage='usage: bash testdata/quickstart.sh [PACKAGE.deb | PACKAGE.tar.gz] [CORE]'
case ${1:-} in -h | --help) echo "$usage"; exit 0 ;; esac
case ${1:-} in
    *.deb | *.tar.gz)
        [ -f "$1" ] || { echo "$1: no such file; give a package of heapsift" >&2; exit 2; }
        package=$(realpath -- "$1")
        shift
        ;;
esac
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

program_packages=(python3 python3-numpy gdb)
heapsift=$here/build/release/heapsift

main() {
    : >"$log"
    if [ -z "$package" ]; then package=$(package_at_hand); fi
    if [ -n "$package" ]; then any_suite=yes; fi
    check_machine
    local packages=() what=''
    if [ -z "$package" ]; then packages=("${build_packages[@]}") what="the compiler and the libraries"; fi
    if [ -z "$asked_core" ]; then packages+=("${program_packages[@]}") what+="${what:+, }Python with NumPy, gdb"; fi
    step 1/4 packages "packages: ${what:-none is needed}"
    if [ ${#packages[@]} != 0 ]; then install_packages "${packages[@]}"; fi
    if [ -n "$package" ]; then
        step 2/4 heapsift "heapsift: unpacked from $package"
        unpack_heapsift
    else
        step 2/4 build "build: heapsift, with $(build_jobs) compilers at a time"
        build_heapsift
    fi
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

# The newest package, or nothing.
package_at_hand() {
    local found made=("$here"/build/packages/heapsift*.deb)
    # shellcheck disable=SC2012
    found=$(ls -t "$here"/testdata/heapsift*.deb "$here"/testdata/heapsift*.tar.gz "$here"/heapsift*.deb "$here"/heapsift*.tar.gz 2>/dev/null | head -n 1)
    if [ -z "$found" ] && [ -f "${made[0]}" ] && [ -z "$(find CMakeLists.txt parsers analysis cli -type f -newer "${made[0]}" -print -quit)" ]; then
        found=${made[0]}
    fi
    printf '%s' "$found"
}

unpack_heapsift() {
    local to=$work/unpacked
    rm -rf --one-file-system "$to"
    mkdir -p "$to"
    case $package in
        *.deb) dpkg-deb -x "$package" "$to" && heapsift=$to/usr/bin/heapsift ;;
        *) tar -xzf "$package" -C "$to" --strip-components=1 && heapsift=$to/bin/heapsift ;;
    esac || die "$package could not be unpacked."
    [ -x "$heapsift" ] || die "$package is no package of heapsift: it has no executable of that name."
    say "    $("$heapsift" --version)"
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
