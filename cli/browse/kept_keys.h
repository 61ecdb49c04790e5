#pragma once

// Keys that are pressed while nothing can answer them yet: they are kept, and played when there is a list.

#include "cli/browse/browser.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// The keys of what a terminal sent, in UTF-8: characters, Enter, Tab, Backspace, Esc, the cursor keys, Home, End and the
/// two that leaf. Other sequences, and what is cut, give nothing.
std::vector<Key> keys_of_input(const std::string& input);

class KeptKeys {
public:
    /// Keeps it, unless it asks to stop what is going on: Esc, or q where no prompt was begun before it. True if it does.
    bool keep(Key key);
    /// The first of them, which is then gone; of kind `none` if there is none.
    Key take();
    void clear();

private:
    std::deque<Key> keys_;
    bool in_prompt_ = false;  // the last of them is typed into one
};

/// The keys that are typed before there is a screen: from construction on nothing that is typed is shown, and a key
/// needs no Enter. Ctrl-C does what it always does. At its end the terminal is as before; where standard input is none
/// nothing happens at all.
class EarlyKeys {
public:
    EarlyKeys();
    ~EarlyKeys() { end(); }
    EarlyKeys(const EarlyKeys&) = delete;
    EarlyKeys& operator=(const EarlyKeys&) = delete;

    /// Takes what was typed up to now. Throws Interrupted if that was q.
    void look();
    /// The terminal is as before.
    void end();
    KeptKeys take() { return std::move(keys_); }

private:
    KeptKeys keys_;
    bool began_ = false;
};

}  // namespace heapsift
