#pragma once

// A core that was captured, as a document.

#include "cli/document/document.h"
#include "parsers/capture/capture.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

struct CapturedFile {
    std::string path;
    CaptureResult result;
};

enum class CapturesTold : std::uint8_t { no, each };

/// One file for each process, the one that was asked for first. `each`: what is to be said of each was said when it was
/// written, as with --every; then the text names what is there now.
Document render_capture(const std::vector<CapturedFile>& files, CapturesTold told = CapturesTold::no);

/// How long something took, in the unit that people would use: "0.4 ms", "143 ms", "1.2 s".
std::string duration_text(std::uint64_t nanoseconds);

}  // namespace heapsift
