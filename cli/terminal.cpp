// Facts about the terminal. NO_COLOR follows no-color.org: any value that is not empty.

#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace heapsift {

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

std::size_t terminal_width(int descriptor) {
    constexpr std::size_t narrowest = 40, widest = 10000;
    winsize size{};
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return std::max<std::size_t>(size.ws_col, narrowest);
    if (const char* columns = std::getenv("COLUMNS")) {
        const long width = std::strtol(columns, nullptr, 10);
        if (width > 0) return std::clamp(static_cast<std::size_t>(width), narrowest, widest);
    }
    return 80;
}

std::size_t terminal_height(int descriptor) {
    winsize size{};
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

bool use_colour(When when, int descriptor) {
    if (when != When::automatic) return when == When::always;
    const char* no_colour = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return is_terminal(descriptor) && !(no_colour && *no_colour) && terminal &&
           std::string_view(terminal) != "dumb";
}

std::string bold(const std::string& text, bool colour) {
    return colour ? "\x1b[1m" + text + "\x1b[0m" : text;
}
std::string faint(const std::string& text, bool colour) {
    return colour ? "\x1b[2m" + text + "\x1b[0m" : text;
}

}  // namespace heapsift
