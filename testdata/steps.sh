# shellcheck shell=bash disable=SC2154
# What quickstart.sh, test.sh and package.sh share: numbered steps that say what they do, packages, a build that fits the memory.
# Sourced by bash; `log` names the file that takes the long outputs.

# shellcheck disable=SC2034
build_packages=(g++ cmake ninja-build pkg-config llvm-19-dev libelf-dev libdw-dev libcli11-dev libboost-graph-dev libfmt-dev
    nlohmann-json3-dev libsqlite3-dev libzstd-dev liblzma-dev liblz4-dev zlib1g-dev libxxhash-dev
    node-d3-hierarchy libunicorn-dev libncurses-dev)

say() { printf '%s\n' "$*"; }
die() { printf '\n%s\n' "$*" >&2; exit 1; }

step_began=$SECONDS step_name='' times=''
# step 2/4 NAME "what it does"
step() {
    end_step
    step_name=$2
    printf '\n[%s] %s\n' "$1" "$3"
}
# `times` says then what each step took: "packages 91 s, build 108 s".
end_step() {
    [ -z "$step_name" ] || times+="${times:+, }$step_name $((SECONDS - step_began)) s"
    step_name=''
    step_began=$SECONDS
}

# how_far SECONDS: from ninja's last line in the log, "[112/238] Building …", else that line itself.
how_far() {
    local line
    line=$(tail -n 1 "$log" | tr -d '\r')
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (Building|Linking) ]]; then
        say "    … ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} files after $1 s"
    else
        say "    … $1 s: ${line:0:90}"
    fi
}

# Ctrl-C: nothing continues in the background, and nothing half done is later taken for done.
job=''
interrupted() {
    trap '' INT TERM
    if [ -n "$job" ] && kill "$job" 2>/dev/null; then wait "$job" || true; fi
    if declare -F clean_up >/dev/null; then clean_up; fi
    say
    say "Interrupted. Run it again: it goes on where it stopped."
    exit 130
}
trap interrupted INT TERM

# quietly WHAT COMMAND…: runs it with its output in the log; says every half minute how far it is, and at the end how long it took.
quietly() {
    local what=$1 began=$SECONDS told=0
    shift
    printf '\n### %s\n' "$*" >>"$log"
    "$@" >>"$log" 2>&1 </dev/null &
    job=$!
    while kill -0 "$job" 2>/dev/null; do
        sleep 1
        if [ $(((SECONDS - began) / 30)) -gt "$told" ]; then
            told=$(((SECONDS - began) / 30))
            how_far $((SECONDS - began))
        fi
    done
    local status=0
    wait "$job" || status=$?
    job=''
    if [ $status != 0 ]; then
        say "    failed $what; the end of $log:"
        tail -n 12 "$log" | sed 's/^/    | /'
        return 1
    fi
    say "    done in $((SECONDS - began)) s"
}

check_machine() {
    # cmake or ninja stumbles over these: it would fail at the first file, or compile everything anew each time.
    case $PWD in *[\'\"\;\\[\]]* | *$'\n'*) die "The path of this checkout has a quote, a semicolon, a backslash or a bracket in it: $PWD
Move it elsewhere: cmake and ninja cannot build there." ;; esac
    [ -r /proc/self/status ] || die "/proc is not mounted here, and nothing below works without it: mount -t proc proc /proc"
    # shellcheck disable=SC1091
    suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-unknown}")
    case $suite in
        bookworm | trixie) ;;
        *) [ -n "${any_suite:-}" ] || say "This is made for Debian 12 and 13; here is '$suite': the packages may have other names." ;;
    esac
    [ "$(uname -m)" = x86_64 ] || die "heapsift is built and tested on x86-64 only; this is $(uname -m)."
    as_root=()
    if [ "$(id -u)" != 0 ]; then as_root=(sudo); fi
}

can_be_root() { [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; }; }

# install_packages NAME…: only those that are missing.
install_packages() {
    local missing=() name
    for name in "$@"; do
        dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
    done
    if [ ${#missing[@]} = 0 ]; then
        say "    all $# are there"
        return
    fi
    can_be_root || die "These packages are missing, and installing them needs root:
    apt-get install --no-install-recommends ${missing[*]}"
    say "    installing ${missing[*]}"
    local alone=(-o DPkg::Lock::Timeout=300)
    quietly "finishing what an earlier run left half installed" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive dpkg --configure -a || true
    quietly "reading the package lists" "${as_root[@]}" apt-get "${alone[@]}" update -qq || die "apt-get update failed: is there a network?"
    quietly "installing" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${alone[@]}" install -y -qq --no-install-recommends "${missing[@]}" ||
        die "The packages could not be installed; see above."
}

# configure PRESET OPTION…: warnings stop CI's build, and nobody else's. A folder left by another checkout or another generator is
# configured from scratch.
configure() {
    local cache=build/$1/CMakeCache.txt errors=OFF fresh=()
    if [ "${CI:-}" = true ]; then errors=ON; fi
    if [ -f "$cache" ] && ! { grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache" && grep -qxF "CMAKE_GENERATOR:INTERNAL=Ninja" "$cache"; }; then
        say "    build/$1 was made for another checkout or another tool; starting anew"
        fresh=(--fresh)
    fi
    quietly "configuring" cmake "${fresh[@]}" --preset "$@" -DHEAPSIFT_WARNINGS_AS_ERRORS=$errors || die "cmake could not configure the build."
}

# build PRESET TARGET…
build() {
    local folder=build/$1
    shift
    quietly "building" ninja -C "$folder" -j "$(build_jobs)" "$@" || die "The build failed; all of its output: $log"
}

# One compiler takes up to 1.5 GiB.
build_jobs() { jobs_of 1536; }

# jobs_of MIB: as many as there are processors, and memory for.
jobs_of() {
    local cores memory
    cores=$(nproc)
    memory=$(awk -v each="$1" '/^MemAvailable/ {print int($2 / 1024 / each)}' /proc/meminfo)
    if [ "${CI:-}" = true ] && [ "$cores" -gt 2 ]; then cores=2; fi
    if [ "$memory" -lt "$cores" ]; then cores=$memory; fi
    if [ "$cores" -lt 1 ]; then cores=1; fi
    echo "$cores"
}
