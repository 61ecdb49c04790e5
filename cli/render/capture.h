#pragma once

// A core that was captured, as a document.

#include "cli/document/document.h"
#include "parsers/capture/capture.h"

#include <string>
#include <vector>

namespace heapsift {

struct CapturedFile {
    std::string path;
    CaptureResult result;
};

/// One file for each process, the one that was asked for first.
Document render_capture(const std::vector<CapturedFile>& files);

/// How long something took, in the unit that people would use: "0.4 ms", "143 ms", "1.2 s".
std::string duration_text(std::uint64_t nanoseconds);

}  // namespace heapsift
