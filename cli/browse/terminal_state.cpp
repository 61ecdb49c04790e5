#include "cli/browse/terminal_state.h"

#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>

namespace heapsift {
namespace {

struct RememberedTerminal {
    termios settings{};
    std::array<char, 256> sequence{};
    std::size_t length = 0;
};

RememberedTerminal remembered;  // of the process, as the terminal is
std::atomic<bool> is_remembered{false};

}  // namespace

void remember_terminal(const std::string& sequence) {
    if (!is_remembered && ::tcgetattr(STDIN_FILENO, &remembered.settings) != 0) return;
    remembered.length = std::min(sequence.size(), remembered.sequence.size());
    std::copy_n(sequence.begin(), remembered.length, remembered.sequence.begin());
    is_remembered = true;
}

bool take_keys_singly() {
    termios settings{};
    if (::isatty(STDIN_FILENO) == 0 || ::tcgetattr(STDIN_FILENO, &settings) != 0) return false;
    remember_terminal({});
    settings.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    settings.c_cc[VMIN] = 1;
    settings.c_cc[VTIME] = 0;
    if (::tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0) return true;
    forget_terminal();
    return false;
}

void forget_terminal() { is_remembered = false; }

void restore_terminal() noexcept {
    if (!is_remembered.exchange(false)) return;
    [[maybe_unused]] const auto written =
        ::write(STDOUT_FILENO, remembered.sequence.data(), remembered.length);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &remembered.settings);
}

}  // namespace heapsift
