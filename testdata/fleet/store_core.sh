#!/bin/sh
# Keeps the cores of this machine: compressed, with a line each (heapsift batch) and an index, within limits of disk and rate.
#
# For core_pattern, which pipes a core to it as root. Copy it to /usr/local/lib/heapsift/store_core.sh, and then:
#
#     echo '|/usr/local/lib/heapsift/store_core.sh %P %u %t %h %e' > /proc/sys/kernel/core_pattern
#     sysctl -w kernel.core_pipe_limit=4        # at a time; further ones are dropped by the kernel
#
# What it makes, in $STORE: core.NAME.UID.BOOT.PID.MICROSECONDS.zst (systemd-coredump's names, of which heapsift reads the boot),
# lines.jsonl, index/, log. Limits, from /etc/default/heapsift-cores or the environment:
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH
settings=${HEAPSIFT_CORES_SETTINGS:-/etc/default/heapsift-cores}
# shellcheck source=/dev/null
[ -r "$settings" ] && . "$settings"
STORE=${STORE:-/var/crash/heapsift}
MOST_MIB=${MOST_MIB:-20480}             # that all cores may take; the oldest go
LEAST_FREE_MIB=${LEAST_FREE_MIB:-5120}  # that must stay free on that disk, else nothing is kept
MOST_CORE_MIB=${MOST_CORE_MIB:-65536}   # of one core, before it is compressed; what is beyond is cut off, and the line says so
PER_MINUTE=${PER_MINUTE:-4}             # a program that crashes all the time fills no disk
MOST_MEMORY=${MOST_MEMORY:-2G}          # for the analysis of one core
TIMEOUT=${TIMEOUT:-600}                 # seconds
INDEX_MIB=${INDEX_MIB:-10240}           # that indexes and unpacked cores may take; 0 for none

umask 077
pid=$1 uid=$2 time=$3 host=$4
name=$(printf %s "$5" | tr -c 'A-Za-z0-9_-' _)
[ -n "$time" ] || { echo "usage: store_core.sh PID UID TIME HOST NAME < core" >&2; exit 2; }
mkdir -p "$STORE/index" || exit 1
exec 2>>"$STORE/log"
say() { echo "$(date -u +%FT%TZ) $name $pid: $*" >&2; }
free_mib() { df -Pk "$STORE" | awk 'NR == 2 {print int($4 / 1024)}'; }
used_mib() { du -cm "$STORE"/core.*.zst 2>/dev/null | awk 'END {print $1 + 0}'; }

# One at a time decides what is kept.
exec 9>"$STORE/.lock"
flock 9
recent=$(find "$STORE" -maxdepth 1 -name 'core.*' -mmin -1 | wc -l)
if [ "$recent" -ge "$PER_MINUTE" ]; then say "dropped: $recent cores in the last minute"; exit 0; fi
while [ "$(used_mib)" -gt "$MOST_MIB" ]; do
    oldest=$(find "$STORE" -maxdepth 1 -name 'core.*.zst' -printf '%T@ %p\n' | sort -n | head -n 1 | cut -d' ' -f2-)
    [ -n "$oldest" ] || break
    say "removed for its room: $oldest"
    rm -f -- "$oldest"
done
if [ "$(free_mib)" -lt "$LEAST_FREE_MIB" ]; then say "dropped: less than $LEAST_FREE_MIB MiB are free"; exit 0; fi
boot=$(tr -d - </proc/sys/kernel/random/boot_id)
core=$STORE/core.$name.$uid.$boot.$pid.${time}000000.zst
: >"$core.part"
flock -u 9

# The process is gone, and its memory free, as soon as this has read it all.
if ! head -c "${MOST_CORE_MIB}M" | zstd -q -3 -f -o "$core.part"; then
    say "could not be written"
    rm -f -- "$core.part"
    exit 1
fi
command -v setfattr >/dev/null && setfattr -n user.coredump.hostname -v "$host" "$core.part" 2>/dev/null
mv -- "$core.part" "$core"

# The rest needs no core_pattern any more, and one at a time is enough.
(
    exec 8>"$STORE/.analysis"
    flock 8
    nice heapsift batch "$core" --brief --max-memory "$MOST_MEMORY" --timeout "$TIMEOUT" \
        -q -o "$STORE/lines.jsonl" --resume "$STORE/lines.jsonl" || say "heapsift batch ended with $?"
    if [ "$INDEX_MIB" -gt 0 ]; then
        HEAPSIFT_STATE=off HEAPSIFT_INDEX_LIMIT=${INDEX_MIB}M nice timeout "$TIMEOUT" heapsift index "$core" \
            -q --index-dir "$STORE/index" || say "heapsift index ended with $?"
    fi
) </dev/null >/dev/null 9>&- &
