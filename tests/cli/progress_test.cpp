// The line that tells how far a pass is.

#include "cli/progress.h"

#include "tests/catch.h"

using namespace heapsift;

TEST_CASE("progress: the pass, its share, and what is left of it once that can be told", "[cli][progress]") {
    CHECK(progress_line("references", 0, 0.1) == "references");
    CHECK(progress_line("references", 0.01, 3.2) == "references, 3 s so far");
    CHECK(progress_line("references", 0.43, 0.2) == "references, 43 %");
    CHECK(progress_line("references", 0.25, 2) == "references, 25 %, some 6 s left");
    CHECK(progress_line("references", 0.9, 2) == "references, 90 %");
    CHECK(progress_line("references", 0.05, 60) == "references, 5 %, some 19 min left");
    CHECK(progress_line("references", 0.25, 2, 800 << 20) ==
          "references, 25 %, 100.0 MiB of the core a second, some 6 s left");
    CHECK(progress_line("references", 0.25, 0.2, 800 << 20) == "references, 25 %");
    CHECK(progress_line("references", 7, 60) == "references, 100 %");
    CHECK(progress_line("references", -1, 0) == "references");
}
