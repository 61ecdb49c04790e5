# Completion of heapsift for fish. The program itself knows what fits (cli/complete); this hands it the words,
# and shows what comes back: a word, a tab, what it means. fish quotes it.

function __heapsift_complete
    set -l words (commandline -opc)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    set -l current (commandline -ct)
    # A quote that is still open: what follows it is the word.
    if string match -qr '^["\']' -- $current
        set current (string sub -s 2 -- $current)
    else
        set current (string unescape -- $current; or echo $current)
    end
    command $program __complete fish $words[2..-1] "$current" 2>/dev/null
end

complete -c heapsift -f -k -a '(__heapsift_complete)'
