// What -v prints at the end: rows of passes that add up, and fit a terminal of 80 columns.

#include "cli/pass_times.h"

#include "cli/text_width.h"
#include "tests/catch.h"

#include <cmath>
#include <sstream>
#include <vector>

using namespace heapsift;

TEST_CASE("pass table: a row a pass, the small ones in one, and the whole", "[cli][passes]") {
    const std::vector<Pass> passes = {{"start", 0.0001, 0.004, 8 << 20},
                                      {"pymalloc blocks", 1.25, 1.2, 120 << 20},
                                      {"proofs", 0.0002, 0.0001, 0},
                                      {"what each type retains", 12.5, 12.4999, 0}};
    CHECK(pass_table(passes) ==
          "  pass                    seconds     CPU     memory\n"
          "  start                     0.000   0.004    8.0 MiB\n"
          "  pymalloc blocks           1.250   1.200  120.0 MiB\n"
          "  what each type retains   12.500  12.500          –\n"
          "  other                     0.000   0.000          –\n"
          "  the whole run            13.750  13.704  128.0 MiB\n");
}

TEST_CASE("pass table: the seconds shown add up to the whole shown", "[cli][passes]") {
    std::vector<Pass> passes;
    for (int i = 0; i < 40; ++i)
        passes.push_back({"pass " + std::to_string(i), 0.0014 + i * 0.0111, 0.0016 + i * 0.0097, 70000});
    std::istringstream lines(pass_table(passes));
    std::string line;
    std::getline(lines, line);
    double seconds = 0, cpu = 0;
    int rows = 0;
    while (std::getline(lines, line)) {
        CHECK(display_width(line) <= 80);
        ++rows;
        std::istringstream cells(line.substr(line.find("  ", 2)));
        double of_row = 0, cpu_of_row = 0;
        cells >> of_row >> cpu_of_row;
        if (line.starts_with("  the whole run")) {
            CHECK(std::llround(of_row * 1000) == std::llround(seconds * 1000));
            CHECK(std::llround(cpu_of_row * 1000) == std::llround(cpu * 1000));
        }
        seconds += of_row;
        cpu += cpu_of_row;
    }
    CHECK(rows == 41);
}
