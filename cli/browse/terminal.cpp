#include "cli/browse/terminal.h"

#include "cli/browse/terminal_entries.h"
#include "cli/browse/terminal_state.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"

#include <langinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>

namespace heapsift {
namespace {

constexpr int signals_of_a_crash[] = {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGQUIT};
constexpr int read_failures_borne = 50;
constexpr std::pair<const char*, int> cursor_keys[] = {
    {"\x1b[A", KEY_UP},    {"\x1bOA", KEY_UP},    {"\x1b[B", KEY_DOWN}, {"\x1bOB", KEY_DOWN},
    {"\x1b[C", KEY_RIGHT}, {"\x1bOC", KEY_RIGHT}, {"\x1b[D", KEY_LEFT}, {"\x1bOD", KEY_LEFT},
    {"\x1b[H", KEY_HOME},  {"\x1bOH", KEY_HOME},  {"\x1b[F", KEY_END},  {"\x1bOF", KEY_END}};

// Only calls that are allowed in a signal handler. The signal then takes its default effect.
void on_crash(int signal) {
    restore_terminal();
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

std::string terminal_name() {
    const char* name = std::getenv("TERM");
    return name ? name : "";
}

/// The entry of its own that fits a terminal of that name.
const TerminalEntry& own_entry(std::string_view name) {
    const auto find = [](std::string_view wanted) -> const TerminalEntry& {
        return *std::find_if(std::begin(terminal_entries), std::end(terminal_entries),
                             [&](const TerminalEntry& entry) { return wanted == entry.name; });
    };
    for (const std::string_view one : {"screen", "tmux"})
        if (name.starts_with(one)) return find("screen-256color");
    for (const std::string_view one : {"linux", "vt100"})
        if (name.starts_with(one)) return find(one);
    for (const std::string_view one : {"vt", "ansi"})
        if (name.starts_with(one)) return find("vt100");
    return find("xterm-256color");
}

/// ncurses takes a character for one of the locale's. Whether there are others than ASCII.
bool choose_locale() {
    const auto is_utf8 = [] { return std::string_view(::nl_langinfo(CODESET)) == "UTF-8"; };
    if (std::setlocale(LC_CTYPE, "") && is_utf8()) return true;
    for (const char* name : {"C.UTF-8", "C.utf8", "en_US.UTF-8"})
        if (std::setlocale(LC_CTYPE, name) && is_utf8()) return true;
    return false;
}

/// A capability without its pauses, "$<5>".
std::string capability(const char* name) {
    char asked[16] = {};
    std::snprintf(asked, sizeof asked, "%s", name);
    const char* found = ::tigetstr(asked);
    if (found == nullptr || found == reinterpret_cast<char*>(-1)) return {};
    std::string text;
    for (const char* at = found; *at != '\0'; ++at) {
        if (at[0] == '$' && at[1] == '<') {
            while (*at != '\0' && *at != '>') ++at;
            if (*at == '\0') break;
            continue;
        }
        text += *at;
    }
    return text;
}

std::string in_base64(const std::string& text) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string coded;
    for (std::size_t i = 0; i < text.size(); i += 3) {
        std::uint32_t three = 0;
        for (std::size_t j = 0; j < 3; ++j)
            three = three << 8 | (i + j < text.size() ? static_cast<unsigned char>(text[i + j]) : 0U);
        for (std::size_t j = 0; j < 4; ++j)
            coded += i + j <= text.size() ? digits[three >> (18 - 6 * j) & 63] : '=';
    }
    return coded;
}

/// What stands for other characters where there is only ASCII.
std::string in_ascii(const std::string& text) {
    std::string made;
    for (std::size_t i = 0; i < text.size();) {
        const auto first = static_cast<unsigned char>(text[i]);
        std::size_t end = i + 1;
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
        const std::string_view one = std::string_view(text).substr(i, end - i);
        if (first < 0x80)
            made += text[i];
        else if (one == "─" || one == "–")
            made += '-';
        else if (one == "…")
            made += '~';
        else if (one == "▾")
            made += 'v';
        else if (first == 0xE2 && static_cast<unsigned char>(text[i + 1]) == 0x96)  // blocks
            made += '#';
        else
            made += std::string(display_width(one), '?');
        i = end;
    }
    return made;
}

}  // namespace

struct Terminal::Screen {
    SCREEN* screen = nullptr;
    bool colour = false, utf8 = true;
    std::array<struct sigaction, std::size(signals_of_a_crash)> before{};

    attr_t look(Look look) const {
        const auto in = [&](short pair, attr_t otherwise) -> attr_t {
            return colour ? static_cast<attr_t>(COLOR_PAIR(pair)) : otherwise;
        };
        switch (look) {
            case Look::plain:
                return A_NORMAL;
            case Look::bold:
                return A_BOLD;
            case Look::faint:
                return A_DIM;
            case Look::bar:
                return in(1, A_NORMAL);
            case Look::title:
            case Look::cursor:
                return A_REVERSE;
            case Look::tab:
                return A_BOLD | in(2, A_NORMAL);
            case Look::marked:
                return A_BOLD | in(2, A_NORMAL);
            case Look::key:
                return A_BOLD | in(1, A_NORMAL);
            case Look::message:
                return A_BOLD | in(3, A_NORMAL);
        }
        return A_NORMAL;
    }

    void put(int line, const ScreenLine& drawn, int width) const {
        ::move(line, 0);
        ::attrset(A_NORMAL);
        ::clrtoeol();
        int column = 0;
        for (const ScreenPiece& piece : drawn.pieces) {
            if (column >= width) break;
            ::attrset(static_cast<int>(look(piece.look)));
            const std::string& text = piece.text;
            ::mvaddstr(line, column, utf8 ? text.c_str() : in_ascii(text).c_str());
            column +=
                static_cast<int>(display_width(text));  // not where ncurses takes it to be: widths may differ
        }
        if (drawn.filled && !drawn.pieces.empty() && column < width) {
            ::attrset(static_cast<int>(look(drawn.pieces.back().look)));
            ::mvaddstr(line, column, std::string(static_cast<std::size_t>(width - column), ' ').c_str());
        }
        ::attrset(A_NORMAL);
    }
};

void require_terminal(const std::string& instead) {
    if (!is_terminal(STDIN_FILENO) || !is_terminal(STDOUT_FILENO))
        throw wrong_usage("not-a-terminal", "browse needs a terminal, for input and output", instead);
    const std::string name = terminal_name();
    if (name.empty() || std::string_view(name) == "dumb")
        throw wrong_usage("dumb-terminal",
                          name.empty() ? "browse needs to know the terminal, and TERM is not set"
                                       : "browse moves the cursor, which a terminal of TERM=dumb cannot",
                          instead);
}

Terminal::Terminal(bool colour, KeptKeys typed)
    : screen_(std::make_unique<Screen>()), kept_(std::move(typed)) {
    screen_->utf8 = choose_locale();
    // Before it is set: what ends the process puts back what is here now.
    remember_terminal({});
    screen_->screen = ::newterm(nullptr, stdout, stdin);
    if (!screen_->screen) {
        const TerminalEntry& entry = own_entry(terminal_name());
        ::setenv("TERMINFO", entry.compiled, 1);
        ::setenv("TERM", entry.name, 1);
        screen_->screen = ::newterm(nullptr, stdout, stdin);
    }
    if (!screen_->screen || capability("cup").empty()) {
        const bool drawn = screen_->screen != nullptr;
        if (drawn) ::endwin();
        forget_terminal();
        throw wrong_usage("dumb-terminal",
                          "browse moves the cursor, which a terminal of TERM=" +
                              escape_for_terminal(terminal_name()) + " cannot",
                          command_line("overview") + " says it in text");
    }
    remember_terminal("\x1b[?1006l\x1b[?1000l" + capability("sgr0") + capability("rmkx") +
                      capability("cnorm") + capability("rmcup"));
    for (std::size_t i = 0; i < std::size(signals_of_a_crash); ++i) {
        struct sigaction action {};
        action.sa_handler = on_crash;
        sigemptyset(&action.sa_mask);
        sigaction(signals_of_a_crash[i], &action, &screen_->before[i]);
    }
    ::cbreak();
    ::noecho();
    ::nonl();
    ::keypad(::stdscr, true);
    // Both forms of each, whichever mode the terminal is in, as after a stop.
    for (const auto& [sequence, key] : cursor_keys) ::define_key(sequence, key);
    ::set_escdelay(25);
    ::curs_set(0);
    ::mousemask(BUTTON1_PRESSED | BUTTON1_DOUBLE_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr);
    ::mouseinterval(0);
    if (colour && ::has_colors()) {
        ::start_color();
        const bool own = ::use_default_colors() == OK;
        const short back = own ? -1 : COLOR_BLACK;
        ::init_pair(1, COLOR_CYAN, back);
        ::init_pair(2, COLOR_YELLOW, back);
        ::init_pair(3, COLOR_GREEN, back);
        screen_->colour = true;
    }
}

Terminal::~Terminal() {
    ::endwin();
    forget_terminal();
    ::delscreen(screen_->screen);
    for (std::size_t i = 0; i < std::size(signals_of_a_crash); ++i)
        sigaction(signals_of_a_crash[i], &screen_->before[i], nullptr);
}

std::size_t Terminal::width() const { return static_cast<std::size_t>(std::max(getmaxx(::stdscr), 1)); }
std::size_t Terminal::height() const { return static_cast<std::size_t>(std::max(getmaxy(::stdscr), 1)); }

void Terminal::show(const std::vector<ScreenLine>& lines) {
    const int last = static_cast<int>(height());
    for (int line = 0; line < last; ++line) {
        const auto at = static_cast<std::size_t>(line);
        screen_->put(line, at < lines.size() ? lines[at] : ScreenLine(), static_cast<int>(width()));
    }
    ::refresh();
}

namespace {

std::string in_utf8(std::uint32_t character) {
    std::string text;
    const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (character < 0x80) {
        add(character);
        return text;
    }
    if (character < 0x800) {
        add(0xC0 | character >> 6);
    } else {
        if (character < 0x10000) {
            add(0xE0 | character >> 12);
        } else {
            add(0xF0 | (character >> 18 & 7));
            add(0x80 | (character >> 12 & 0x3F));
        }
        add(0x80 | (character >> 6 & 0x3F));
    }
    add(0x80 | (character & 0x3F));
    return text;
}

Key key_of_mouse() {
    MEVENT event{};
    if (::getmouse(&event) != OK) return {};
    Key key{.line = static_cast<std::size_t>(std::max(event.y, 0))};
    if ((event.bstate & BUTTON4_PRESSED) != 0)
        key.kind = Key::Kind::wheel_up;
    else if ((event.bstate & BUTTON5_PRESSED) != 0)
        key.kind = Key::Kind::wheel_down;
    else if ((event.bstate & BUTTON1_DOUBLE_CLICKED) != 0)
        key.kind = Key::Kind::double_click;
    else if ((event.bstate & BUTTON1_PRESSED) != 0)
        key.kind = Key::Kind::click;
    return key;
}

Key key_of_code(wint_t code) {
    using Kind = Key::Kind;
    constexpr std::pair<wint_t, Kind> kinds[] = {
        {KEY_ENTER, Kind::enter},   {KEY_BACKSPACE, Kind::back},  {KEY_LEFT, Kind::left},
        {KEY_RIGHT, Kind::right},   {KEY_UP, Kind::up},           {KEY_DOWN, Kind::down},
        {KEY_PPAGE, Kind::page_up}, {KEY_NPAGE, Kind::page_down}, {KEY_HOME, Kind::home},
        {KEY_END, Kind::end},       {KEY_BTAB, Kind::back_tab},   {KEY_DC, Kind::back},
        {KEY_A1, Kind::home},       {KEY_C1, Kind::end}};
    if (code == KEY_MOUSE) return key_of_mouse();
    for (const auto& [known, kind] : kinds)
        if (code == known) return {.kind = kind};
    return {};
}

Key key_of_character(wint_t character) {
    using Kind = Key::Kind;
    constexpr wint_t escape = 0x1b, erase = 0x7f;
    if (character == '\r' || character == '\n') return {.kind = Kind::enter};
    if (character == escape) return {.kind = Kind::escape};
    if (character == erase || character == '\b') return {.kind = Kind::back};
    if (character == '\t') return {.kind = Kind::tab};
    if (character < ' ') return {};
    return {.kind = Kind::character, .text = in_utf8(static_cast<std::uint32_t>(character))};
}

/// Waits for so many milliseconds, or with -1 until there is one. Nothing where none came, or none can come; errno says it.
std::optional<Key> key_within(int milliseconds) {
    ::timeout(milliseconds);
    wint_t code = 0;
    switch (::get_wch(&code)) {
        case OK:
            return key_of_character(code);
        case KEY_CODE_YES:
            return key_of_code(code);
        default:
            return std::nullopt;
    }
}

}  // namespace

Key Terminal::read() {
    if (Key key = kept_.take(); key.kind != Key::Kind::none) return key;
    for (int failures = 0; failures < read_failures_borne; ++failures) {
        if (const auto key = key_within(-1)) return *key;
        if (errno == EINTR) return {};  // the size may have changed
    }
    throw cannot_analyse("terminal-lost", "the terminal is gone");
}

Key Terminal::waiting() {
    if (Key key = kept_.take(); key.kind != Key::Kind::none) return key;
    return key_within(0).value_or(Key{});
}

void Terminal::show_progress(std::string_view line) {
    while (auto key = key_within(0)) {
        if (!kept_.keep(*std::move(key))) continue;
        kept_.clear();
        throw Interrupted();
    }
    const std::string text = shortened_at_the_end(" " + std::string(line) + "   (Esc: stop)", width());
    screen_->put(static_cast<int>(height()) - 1, {{{text, Look::message}}, true}, static_cast<int>(width()));
    ::refresh();
}

void Terminal::copy(const std::string& text) {
    const std::string sequence = "\x1b]52;c;" + in_base64(text) + "\a";
    std::fwrite(sequence.data(), 1, sequence.size(), stdout);
    std::fflush(stdout);
}

}  // namespace heapsift
