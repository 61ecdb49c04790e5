#pragma once

// A terminal to draw on and to read keys from, by ncurses. No other file includes that: its names are macros.
//
// A static executable finds the description of a terminal where Debian, Fedora and Alpine have theirs (/etc/terminfo,
// /lib/terminfo, /usr/share/terminfo, ~/.terminfo), and where TERMINFO and TERMINFO_DIRS say. Where there is none it has
// those of xterm, screen (and tmux), linux and vt100 itself (terminal_entries.h): a terminal that no machine here
// knows by its name is one of these, as a rule.

#include "cli/browse/browser.h"
#include "cli/browse/kept_keys.h"
#include "cli/browse/screen.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// Throws `Error` (exit 2): "not-a-terminal" where standard input or output is none, "dumb-terminal" where TERM is not
/// set, or says that the cursor cannot be moved. `instead`: a command that answers without one.
void require_terminal(const std::string& instead);

/// From construction to destruction the terminal shows the program's screen; whatever ends the process puts it back
/// (terminal_state.h), and Ctrl-Z and fg do what they should. One at a time.
class Terminal {
public:
    /// Throws `Error` (exit 2, "dumb-terminal") if the cursor cannot be moved.
    /// `typed`: keys that come before any other.
    explicit Terminal(bool colour, KeptKeys typed = {});
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    std::size_t width() const;
    std::size_t height() const;

    void show(const std::vector<ScreenLine>& lines);
    /// Waits for a key; of kind `none` where only the size has changed. Throws `Error` (exit 1, "terminal-lost").
    Key read();
    /// A key that waits already; of kind `none` if there is none.
    Key waiting();
    /// Shows how far long work is, on the last line. Throws Interrupted if Esc or q was pressed; other keys wait until they
    /// are read, but those before a key that stops it are gone with it.
    void show_progress(std::string_view line);
    /// Puts the text into the terminal's clipboard (OSC 52), where it allows that.
    void copy(const std::string& text);

private:
    struct Screen;
    std::unique_ptr<Screen> screen_;
    KeptKeys kept_;
};

}  // namespace heapsift
