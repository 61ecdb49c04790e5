#!/usr/bin/env bash
# How much of each folder the tests without real cores run, and whether that is enough.
#
#     bash tests/coverage.sh [BUILD]     after ctest in a build of the preset `checks` (default: build/checks)
#
# Lines of .cpp files, as GCC's gcov counts them; a header is compiled into many files and would count in each. A folder below its
# floor is a failure. The floors are one below what was reached, for compilers differ in what they take for a line: raise them when you
# add tests, and say why if one must fall. (Of analysis, elf and reading much that came last is tested on real cores alone, which this does
# not count: answers that are kept, native calls and the expressions of unwind tables beside gdb's, tensors beside torch's. What of snapshot
# has types' own code run is in a child process, which ends without counting. Values are tested on real cores: real/values.py; what of capture
# stops a process, on living ones: real/capture.py.)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$(realpath "${1:-build/checks}")

# folder, floor in percent of lines
floors='
parsers/base 97
parsers/elf 92
parsers/dwarf 92
parsers/capture 42
parsers/process 97
parsers/memory 93
parsers/cpython 86
parsers/numpy 95
parsers/emulation 85
parsers/index 92
parsers/libraries 90
parsers/values 36
parsers/snapshot 83
parsers/reading 86
analysis/graph 97
analysis/suspects 95
analysis/growth 90
analysis 89
cli 80
'

mapfile -d '' -t notes < <(find "$build" -name '*.gcda' -not -path '*/tests/*' -print0 | sort -z)
if [ ${#notes[@]} = 0 ]; then
    echo "No test has run in $build: cmake --preset checks && ninja -C build/checks && ctest --preset checks -LE real" >&2
    exit 2
fi

# gcov says of each source file: File 'analysis/why.cpp' / Lines executed:93.10% of 258
printf '%s\0' "${notes[@]}" | xargs -0 gcov --no-output --relative-only --source-prefix "$PWD" 2>/dev/null |
    awk -v floors="$floors" '
        BEGIN {
            count = split(floors, row, "\n")
            for (i = 1; i <= count; ++i) if (split(row[i], part, " ") == 2) { order[++folders] = part[1]; floor[part[1]] = part[2] }
        }
        /^File / { file = substr($0, 7, length($0) - 7) }
        /^Lines executed:/ && file ~ /\.cpp$/ {
            split($0, part, /[:% ]+/)
            best = ""
            for (i = 1; i <= folders; ++i)
                if (index(file, order[i] "/") == 1 && length(order[i]) > length(best)) best = order[i]
            if (best != "" && !(file in seen)) { seen[file] = 1; lines[best] += $NF; run[best] += $NF * part[3] / 100 }
            file = ""
        }
        END {
            printf "%-20s %8s %8s %7s %6s\n", "folder", "lines", "run", "share", "floor"
            for (i = 1; i <= folders; ++i) {
                name = order[i]
                if (!lines[name]) { printf "%s: no line was seen\n", name; failed = 1; continue }
                share = 100 * run[name] / lines[name]
                low = share < floor[name]
                failed = failed || low
                printf "%-20s %8d %8d %6.1f%% %5d%%%s\n", name, lines[name], run[name] + 0.5, share, floor[name], low ? "  TOO LOW" : ""
            }
            exit failed
        }'
