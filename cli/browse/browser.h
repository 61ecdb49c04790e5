#pragma once

// heapsift browse: the lists of a heap on a terminal, one key apart.
//
// The problem: a hunt is a chain of small questions ("what is in it?", "who has that?"), and to type a command for each
// takes longer than to read its answer. Whoever knows Eclipse MAT, htop or ncdu opens a row with Enter, goes back with
// Backspace, and reads.
//
// Four layers, each of which knows only those before it:
//
//     list.h           one list: rows, of which those that are seen are put into words; order, filter, search, cursor
//     heap_lists.h     which lists there are, made by the analyses that the commands ask
//     browser.h        what a key does: the lists that were opened, one on top of the other, marks, prompts
//     screen.h         what is to be seen, as lines of styled pieces, for a width and a height
//     terminal.h       ncurses: puts lines on the terminal and says which key was pressed; knows no heap
//
// All but the last are tested without a terminal (tests/cli/browse_test.cpp); the whole is driven by keys in tmux
// (tests/real/browse.py).
//
// Fast by this: what every list needs is computed, or read from the index, before the first screen; a list has the
// largest thousand rows, and counts the rest, of which + lists more; words, which need reads of the core, are made for the rows on the screen;
// and keys that wait are taken before anything is drawn. What still takes long (a table of types that nobody asked for
// before) says how far it is and ends at Esc.
//
// Nothing from the core reaches the terminal but through Page: escaped, measured by cli/text_width, and redacted where
// that is asked for.

#include "cli/browse/heap_lists.h"
#include "cli/browse/list.h"
#include "cli/page.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heapsift {

/// What a person pressed.
struct Key {
    enum class Kind : std::uint8_t {
        none,
        character,
        enter,
        back,  // Backspace
        left,
        right,
        up,
        down,
        page_up,
        page_down,
        home,
        end,
        tab,
        back_tab,
        escape,
        click,  // at `line`
        double_click,
        wheel_up,
        wheel_down
    } kind = Kind::none;
    std::string text = {};  // of a character: UTF-8
    std::size_t line = 0;
};

/// Thrown out of long work that a person does not want to wait for.
struct Interrupted {};

class Browser {
public:
    /// The object that is meant by what was typed (an address, an expression). Throws `Error`.
    using Find = std::function<ObjectId(const std::string&)>;
    enum class Prompt : std::uint8_t { none, search, filter, go_to };

    /// `page` and `lists` must live as long. Shows the suspects.
    Browser(HeapLists& lists, const Page& page, Find find);

    void press(const Key& key);
    bool is_done() const { return done_; }
    /// Text for the terminal's clipboard, once.
    std::string take_copy() { return std::exchange(copy_, {}); }

    // What there is to draw.
    ListView& view() { return *visits_.back(); }
    HeapLists& lists() { return lists_; }
    const Page& page() const { return page_; }
    bool shows_help() const { return help_; }
    /// Shown in full until the next key: what was copied. Empty: nothing.
    const std::string& shown_copy() const { return shown_copy_; }
    Prompt prompt() const { return prompt_; }
    const std::string& typed() const { return typed_; }
    const std::string& message() const { return message_; }
    std::size_t depth() const { return visits_.size(); }
    /// What the row under the cursor stands for; null in an empty list.
    const Subject* subject();
    /// The command that shows it, as it is typed; empty without one.
    std::string command();

    /// The lines of the screen that have rows: told by whoever draws, for the mouse and the keys that leaf.
    void set_rows(std::size_t first_line, std::size_t count) {
        first_line_ = first_line;
        row_count_ = count;
    }

private:
    void press_character(const std::string& text);
    void press_in_prompt(const Key& key);
    void end_prompt(bool accepted);
    void open(const Place& place);
    void open_subject();
    void ask_about_object(Place::Kind kind);
    void back();
    void show_places();
    void jump_to(std::size_t place);
    void list_more();
    void copy(std::string text, const char* nothing);
    void turn(int by);
    void click(const Key& key);
    void go_to();

    HeapLists& lists_;
    const Page& page_;
    Find find_;
    std::vector<std::unique_ptr<ListView>> visits_;  // the last one is seen
    bool done_ = false, help_ = false;
    Prompt prompt_ = Prompt::none;
    std::string typed_, sought_, message_, copy_, shown_copy_;
    std::size_t began_at_ = 0;  // the cursor, when a search began
    std::size_t first_line_ = 0, row_count_ = 10;
};

}  // namespace heapsift
