#!/bin/bash
# The terminals that heapsift browse knows where a machine has no terminfo database (an image without ncurses-base): what it needs of this
# machine's entries, compiled, in base64, as ncurses takes them from the variable TERMINFO.
#
#     testdata/terminal_entries.sh > cli/browse/terminal_entries.h
set -eu
needed='am|bce|mir|msgr|xenl|npc|colors|cols|lines|pairs|bel|bold|civis|clear|cnorm|cr|cub|cub1|cud|cud1|cuf|cuf1|cup|cuu|cuu1|dim|ed|el|home|hpa|vpa|ind|kbs|kcbt|kcub1|kcud1|kcuf1|kcuu1|kdch1|kend|khome|kmous|knp|kpp|op|rev|rmcup|rmkx|setab|setaf|sgr0|smcup|smkx|smul|rmul|csr|rmam|smam'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat <<'EOF'
#pragma once

// Made by testdata/terminal_entries.sh.

namespace heapsift {

struct TerminalEntry {
    const char *name, *compiled;  // compiled: as the variable TERMINFO may have it
};

inline constexpr TerminalEntry terminal_entries[] = {
EOF
for name in xterm-256color screen-256color linux vt100; do
    {
        echo "$name|what heapsift needs of it,"
        infocmp -1 "$name" | tail -n +3 | grep -E "^[[:space:]]($needed)([=#,]|\$)"
    } >"$folder/source"
    tic -o "$folder" "$folder/source"
    text=$(infocmp -A "$folder" -Q2 "$name" | grep -v "^#" | tr -d '\n')
    printf '    {"%s",\n' "$name"
    while [ -n "$text" ]; do
        printf '     "%s"' "${text:0:90}"
        text=${text:90}
        [ -n "$text" ] && printf '\n'
    done
    printf '},\n'
done
cat <<'EOF'
};

}  // namespace heapsift
EOF
