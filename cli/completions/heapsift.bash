# Completion of heapsift for bash. The program itself knows what fits (cli/complete); this hands it the line
# up to the cursor, and shows what comes back, which is quoted already.

_heapsift() {
    local IFS=$'\n' program=$1 answer
    COMPREPLY=()
    if [[ $program == '~/'* ]]; then program=$HOME/${program#'~/'}; fi
    answer=($(set -f; "$program" __complete bash "$COMP_WORDBREAKS" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null))
    if [[ ${answer[0]} == nospace ]]; then compopt -o nospace 2>/dev/null; fi
    COMPREPLY=("${answer[@]:1}")
}

complete -o nosort -F _heapsift heapsift 2>/dev/null || complete -F _heapsift heapsift
