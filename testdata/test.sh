#!/usr/bin/env bash
# All tests, on a fresh Debian 12 or 13: installs what they need, builds, gets other suites' Pythons, runs ctest, sums up.
#
#     bash testdata/test.sh                         everything
#     bash testdata/test.sh --without-real-cores    only what needs no core of a real process: minutes
#     bash testdata/test.sh --checks                the same under the address and undefined-behaviour sanitizers; and how much of each
#                                                   folder's code ran, which has a floor (tests/coverage.sh)
#
# The interpreters: this machine's own python3 with NumPy, and, for root, debootstrap trees of Debian 11, of the other suite
# (13 on 12, 12 on 13) and of testing (forky) in ${HEAPSIFT_TREES:-/var/cache/heapsift}. It says which tree it cannot make; with CI=true that is a failure.
# No suite has a free-threaded Python: one is built there of the source of Debian 13's, in three to six minutes.
# Run again, it skips what is done.
set -euo pipefail
preset=release real=yes
case "$*" in
    '') ;;
    --without-real-cores) real=no ;;
    --checks) real=no preset=checks ;;
    *) echo "usage: bash testdata/test.sh [--without-real-cores | --checks]" >&2; exit 2 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export HEAPSIFT_TREES=${HEAPSIFT_TREES:-/var/cache/heapsift}
export HEAPSIFT_INDEX_LIMIT=${HEAPSIFT_INDEX_LIMIT:-2G}  # the tests make indexes of many cores
tests=$PWD/build/$preset
mkdir -p "$tests"
log=$tests/test.log
: >"$log"
# shellcheck source=testdata/steps.sh
. testdata/steps.sh

packages=("${build_packages[@]}" catch2 dwz)
packages_of_real_cores=(gdb python3 python3-numpy python3-pandas python3-pil python3-lxml mypy python3-dbg debootstrap libjemalloc2 libjemalloc-dev
    musl-tools python3-django python3-sqlalchemy python3-flask python3-aiohttp python3-matplotlib python3-sklearn python3-gevent python3-twisted
    python3-ipykernel python3-ipython python3-venv zsh fish bash-completion man-db mandoc
    zstd python3-distributed python3-dask python3-fsspec python3-paramiko python3-yaml parallel rsync openssh-client jq  # a fleet
    tmux libffi-dev make xz-utils)  # to build a Python
# Services, which a machine starts when they are installed: only in the trees of CI, where nothing is started but by a test.
packages_of_services=(openssh-server slurm-wlm munge)
not_covered=()

# more_packages SUITE: tcmalloc and mimalloc, which tests/real/preloaded.py loads before malloc; and greenlet. Of testing, two Pythons; of 11, Python 2.7.
more_packages() {
    case $1 in
        bullseye) echo libtcmalloc-minimal4 python3-greenlet python2.7 ;;
        bookworm) echo libtcmalloc-minimal4 libmimalloc2.0 python3-greenlet ;;
        trixie) echo libtcmalloc-minimal4t64 libmimalloc3 python3-greenlet ;;
        forky) echo python3.14 python3.15 ;;
    esac
}

main() {
    check_machine
    step 1/4 packages "packages: compiler, libraries, Catch2, dwz$([ $real = no ] || echo ", gdb, Python with NumPy and pandas, allocators, debootstrap")"
    # shellcheck disable=SC2207
    if [ $real = yes ]; then packages+=("${packages_of_real_cores[@]}" $(more_packages "$suite")); fi
    if [ $real = yes ] && [ "${CI:-}" = true ]; then packages+=("${packages_of_services[@]}"); fi
    install_packages "${packages[@]}"
    get_interpreters
    step 3/4 build "build: heapsift and its tests, with $(build_jobs) compilers at a time"
    configure $preset -DHEAPSIFT_TESTS=ON
    build $preset all
    step 4/4 tests "tests: on synthetic memory and synthetic cores$([ $real = no ] || echo ", and on real cores of each interpreter")"
    local status=0 without=()
    if [ $real = no ]; then without=(--label-exclude real); fi
    # Two cores of one program are never the same (addresses, stale words): what fails is tried once more, and named at the end.
    ctest --test-dir "$tests" --output-on-failure --no-tests=error -j "$(jobs_of 4096)" --repeat until-pass:2 "${without[@]}" |
        tee "$tests/ctest.log" || status=$?
    if [ $preset = checks ] && [ $status = 0 ]; then bash tests/coverage.sh "$tests" || status=$?; fi
    end_step
    sum_up $status
    exit $status
}

get_interpreters() {
    if [ $real = no ]; then
        step 2/4 interpreters "interpreters: none is needed"
        return
    fi
    step 2/4 interpreters "interpreters: this machine's $(/usr/bin/python3 --version), and other suites' in $HEAPSIFT_TREES"
    case $suite in
        bookworm) make_tree bullseye; make_tree trixie; make_tree forky ;;
        trixie) make_tree bullseye; make_tree bookworm; make_tree forky ;;
        *) leave_out "Debian 12 and 13: this is neither" ;;
    esac
    make_free_threaded
}

# The Python of Debian 13's source, without the GIL: in its own prefix, beside the trees. -g: its layout is then read from itself.
make_free_threaded() {
    local prefix=$HEAPSIFT_TREES/free-threaded source=$HEAPSIFT_TREES/free-threaded.source
    if [ -x "$prefix/bin/python3.13t" ]; then
        say "    $prefix is there"
        return
    fi
    if [ "$(id -u)" != 0 ]; then
        leave_out "a free-threaded Python: reading the lists of Debian 13's sources needs root"
        return
    fi
    rm -rf --one-file-system "$source"
    mkdir -p "$source"
    # shellcheck disable=SC2016
    quietly "getting and building a free-threaded Python" sh -c 'set -e
        cd "$1"
        mkdir -p lists/partial cache/archives/partial parts
        echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main" >sources.list
        set -- "$2" "$3" -o Dir::Etc::sourcelist="$1/sources.list" -o Dir::Etc::sourceparts="$1/parts" -o Dir::State::lists="$1/lists" \
            -o Dir::Cache="$1/cache"
        prefix=$1 jobs=$2
        shift 2
        apt-get "$@" update -qq
        apt-get "$@" source -qq --download-only python3.13
        tar xf python3.13_*.orig.tar.xz
        cd Python-3.13.*/
        ./configure -q --disable-gil --without-ensurepip --disable-test-modules --prefix="$prefix" CFLAGS=-g
        make -s -j "$jobs"
        make -s install DESTDIR="$PWD/installed"
        mv "installed$prefix" "$prefix"' sh "$source" "$prefix" "$(jobs_of 1024)" ||
        leave_out "a free-threaded Python: its source could not be had, or not be built"
    rm -rf --one-file-system "$source"
}

# make_tree SUITE: a minimal Debian of that suite with Python, NumPy and pandas.
make_tree() {
    local tree=$HEAPSIFT_TREES/$1
    if has_libraries "$tree"; then
        say "    $tree is there"
        add_more_packages "$1"
        return
    fi
    if [ "$(id -u)" != 0 ]; then
        leave_out "the Python of $1: making its tree, and entering it, needs root"
        return
    fi
    mkdir -p "$HEAPSIFT_TREES"
    if [ ! -e "$tree" ]; then
        rm -rf --one-file-system "$tree.part"
        say "    making $tree (some 400 MiB)"
        # A suite younger than debootstrap here has the script of the one before all.
        local scripts=/usr/share/debootstrap/scripts
        if [ -d $scripts ] && [ ! -e "$scripts/$1" ]; then ln -s sid "$scripts/$1"; fi
        if quietly "making the tree" debootstrap --variant=minbase --include=python3,python3-numpy,python3-pandas,libjemalloc2 "$1" "$tree.part"; then
            # A suite that is not released yet may be past the day until which its list of packages is valid.
            echo 'Acquire::Check-Valid-Until "false";' >"$tree.part/etc/apt/apt.conf.d/10heapsift"
            mv "$tree.part" "$tree"
        fi
    else
        quietly "installing python3-numpy, python3-pandas and libjemalloc2 in $tree" chroot "$tree" sh -c 'export DEBIAN_FRONTEND=noninteractive
            apt-get update -qq && apt-get install -y -qq --no-install-recommends python3 python3-numpy python3-pandas libjemalloc2' || true
    fi
    has_libraries "$tree" || leave_out "the Python of $1: debootstrap could not make its tree"
    add_more_packages "$1"
}

# add_more_packages SUITE: into its tree, if they are not there.
add_more_packages() {
    local tree=$HEAPSIFT_TREES/$1
    if [ "$(id -u)" != 0 ] || [ ! -x "$tree/usr/bin/python3" ]; then return; fi
    # shellcheck disable=SC2046
    if chroot "$tree" dpkg-query -W $(more_packages "$1") >/dev/null 2>&1; then return; fi
    # shellcheck disable=SC2016,SC2046
    quietly "installing $(more_packages "$1") in $tree" chroot "$tree" sh -c 'export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"' sh $(more_packages "$1") ||
        leave_out "$(more_packages "$1") under the Python of $1: they could not be installed"
}

has_libraries() {
    local folder=$1/usr/lib/python3/dist-packages
    [ -x "$1/usr/bin/python3" ] && [ -d "$folder/numpy" ] && [ -d "$folder/pandas" ] &&
        [ -e "$1/usr/lib/x86_64-linux-gnu/libjemalloc.so.2" ]
}

leave_out() {
    if [ "${CI:-}" = true ]; then die "Not covered, and CI must cover it: $1"; fi
    say "    NOT COVERED: $1"
    not_covered+=("$1")
}

sum_up() {
    local told=$tests/Testing/Temporary/LastTest.log reason failed
    say
    sed -n '/^interpreter  /,/^covered: /p' "$told"
    for reason in "${not_covered[@]}"; do say "not covered: $reason"; done
    failed=$(sed -n 's/.*Test *#[0-9]*: \([a-z_]*\) \.*\*\*\*.*/\1/p' "$tests/ctest.log" | sort -u | tr '\n' ' ')
    # What the tests themselves said of it, whoever reads only the end.
    if [ -n "$failed" ]; then grep -E '^(failed: |.*FAILED: |  .*\.cpp:[0-9]+: FAILED)' "$tests/ctest.log" | cut -c1-300 | sort -u | head -n 20 || true; fi
    if [ -n "$failed" ]; then say "FAILED once or more, and must be looked at even if it passed then: $failed(first outputs: $tests/ctest.log)"; fi
    say "It took: $times."
    if [ "$1" = 0 ]; then say "All tests passed."; else say "Some tests FAILED; they are listed above, in full in $told"; fi
}

main
