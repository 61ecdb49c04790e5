#!/usr/bin/env bash
# Packages of heapsift, on a fresh Debian 12 or 13: installs what making them needs, builds one static executable, and puts into
# build/packages a .deb, a tarball and a wheel, which any Linux on x86-64 takes: nothing else has to be installed there.
#
#     bash testdata/package.sh
#
# The same sources give the same bytes (SOURCE_DATE_EPOCH is the last commit's time, unless it is set). If it was interrupted, run it
# again: it continues where it stopped.
set -euo pipefail
if [ $# != 0 ]; then echo "usage: bash testdata/package.sh" >&2; exit 2; fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p build/static build/packages
log=$PWD/build/static/package.log
: >"$log"
# shellcheck source=testdata/steps.sh
. testdata/steps.sh

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y README.md)}
export SOURCE_DATE_EPOCH

main() {
    check_machine
    step 1/4 packages "packages: the compiler and the libraries, as static ones"
    install_packages "${build_packages[@]}" python3 gzip binutils
    step 2/4 build "build: heapsift with its libraries inside, with $(build_jobs) compilers at a time"
    configure static -DHEAPSIFT_TESTS=OFF
    build static all
    step 3/4 packaging "packaging: into build/packages"
    rm -rf build/packages
    quietly "making the .deb and the tarball" cpack --config build/static/CPackConfig.cmake || die "cpack could not make the packages."
    rm -rf build/packages/_CPack_Packages
    quietly "making the wheel" /usr/bin/python3 cli/python/make_wheel.py --build build/static --output build/packages ||
        die "The wheel could not be made."
    step 4/4 check "check: the packages are what they promise to be, and answer about a core in an empty root"
    quietly "checking" /usr/bin/python3 tests/real/package.py --packages build/packages || die "The packages are not as they should be."
    end_step
    say
    (cd build/packages && wc -c -- * | awk '$2 != "total" {printf "%10.1f MB  build/packages/%s\n", $1 / 1e6, $2}')
    say
    say "It took: $times."
}

main
