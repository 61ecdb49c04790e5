#!/bin/sh
# Regenerates every built-in layout table after a change of layout_fields*.def. The tool is made of the same list: build it
# anew first (ninja -C build/dev heapsift-layout-table). It takes seconds. If the order of structs or of a struct's fields has changed, the old tables do
# not compile: empty the braces of each table, build the tool, and run this. After an update of Debian's packages the build-ids and
# versions in the last lines change (file -L /usr/bin/python3.11).
#
#     layout_tables.sh build/dev/heapsift-layout-table VERSIONS TRIXIE FORKY FREE-THREADED
#
# VERSIONS is a folder of interpreters with debug information, as pyenv makes it: 3.9.18/lib/libpython3.9.so.1.0 and so on. The
# tables of 3.11 and 3.13 are those of Debian 12's and 13's builds: python3.11-dbg is installed here (test.sh does that), python3.13-dbg
# in TRIXIE, a tree of Debian 13 (test.sh makes /var/cache/heapsift/trixie, and does not:
# chroot TRIXIE apt-get install --no-install-recommends python3.13-dbg). Those of 3.14 and 3.15 are of Debian 14's builds, whose
# python3.14-dbg and python3.15-dbg are installed in FORKY. FREE-THREADED is the folder of a free-threaded 3.13.5, built with -g
# (testdata/test.sh makes it of Debian 13's source).
set -eu
[ $# -eq 5 ] || { echo "usage: $0 LAYOUT-TABLE VERSIONS TRIXIE FORKY FREE-THREADED" >&2; exit 2; }
tool=$1 versions=$2 trixie=$3 forky=$4 free_threaded=$5 tables=$(dirname "$0")/../layouts
trap 'rm -f "$tables"/*.new' EXIT

table() { # VERSION BUILD FILE...
    version=$1 build=$2
    shift 2
    target=$tables/cpython_$(echo "$version" | tr . _).cpp
    "$tool" --version "$version" --build "$build" "$@" > "$target.new"
    mv "$target.new" "$target"
}

plain() { # 3.9.18 "amd64"
    minor=${1%.*}
    table "$minor" "a plain $1 build, $2" "$versions/$1/lib/libpython$minor"*.so.1.0 "$versions/$1/lib/python$minor"/lib-dynload/*.so
}

debian() { # VERSION BUILD BUILD-ID TREE: the debug file of the interpreter itself, by its build-id, comes first
    files=$(debug_files "$1" "$4")
    # shellcheck disable=SC2086
    table "$1" "$2" $(echo "$files" | grep "/$3") $(echo "$files" | grep -v "/$3")
}

debug_files() { # VERSION TREE
    dpkg-query --admindir="$2/var/lib/dpkg" -L "python$1-dbg" | grep '/\.build-id/.*\.debug$' | sed "s,^,$2,"
}

# Before anything is written: a table of another build would be made without a word.
check() { # VERSION BUILD-ID TREE
    if [ -z "$(debug_files "$1" "$3" 2>/dev/null)" ]; then
        echo "$0: python$1-dbg is not installed in ${3:-this system}" >&2
        exit 1
    fi
    if ! debug_files "$1" "$3" | grep -q "/$2"; then
        echo "$0: python$1-dbg is of another build than $2: mend the last lines (file -L $3/usr/bin/python$1 says its build-id)" >&2
        exit 1
    fi
}

check 3.11 c5/61f3 ""
check 3.13 7e/8d5f "$trixie"
check 3.14 ee/d130 "$forky"
check 3.15 fa/647a "$forky"

plain 2.7.18 "x86-64 Linux"
plain 3.6.15 "x86-64 Linux"
plain 3.7.16 "x86-64 Linux"
plain 3.8.18 "x86-64 Linux"
plain 3.9.18 amd64
plain 3.10.13 amd64
debian 3.11 "Debian 12's python3.11 3.11.2-6+deb12u9, amd64" c5/61f3 ""
plain 3.12.1 "x86-64 Linux"
debian 3.13 "Debian 13's python3.13 3.13.5-2+deb13u5, amd64" 7e/8d5f "$trixie"
debian 3.14 "Debian 14's python3.14 3.14.8-1, amd64" ee/d130 "$forky"
debian 3.15 "Debian 14's python3.15 3.15.0-1, amd64" fa/647a "$forky"
table 3.13t "a plain 3.13.5 build with --disable-gil, amd64" "$free_threaded"/bin/python3.13t "$free_threaded"/lib/python3.13t/lib-dynload/*.so
