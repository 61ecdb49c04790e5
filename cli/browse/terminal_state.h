#pragma once

// The terminal as it was before browse drew on it, so that whatever ends the process can put it back.

#include <string>

namespace heapsift {

/// Remembers how standard input's terminal is set now, unless that is remembered already, and `sequence`, which ends what will be drawn. From here on
/// `restore_terminal` has something to do.
void remember_terminal(const std::string& sequence);
/// Of what is typed from now on nothing is shown, and a key needs no Enter; what sends a signal still does. How it was is
/// remembered. False where standard input is no terminal.
bool take_keys_singly();
/// It is as it was: nothing is left to restore.
void forget_terminal();
/// Puts it back. Only calls that are allowed in a signal handler; nothing if nothing was remembered.
void restore_terminal() noexcept;

}  // namespace heapsift
