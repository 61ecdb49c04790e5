// What a capture says of itself: the file, how long the process stood, and the command to type next.

#include "cli/render/capture.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

const char* method_name(CaptureMethod method) {
    switch (method) {
        case CaptureMethod::copy:
            return "copy";
        case CaptureMethod::fork:
            return "fork";
        case CaptureMethod::still:
            return "still";
    }
    return "";
}

Datum captured_data(const CapturedFile& file) {
    const CaptureResult& result = file.result;
    return entries({{"path", FilePath{file.path}},
                    {"pid", result.pid},
                    {"name", GivenName{result.name}},
                    {"method", method_name(result.method)},
                    {"stood_ns", result.stood_nanoseconds},
                    {"threads", result.threads},
                    {"pages", result.pages},
                    {"changed_pages", result.changed_pages},
                    {"mapped", result.memory_bytes},
                    {"bytes", result.file_bytes},
                    {"disk_bytes", result.disk_bytes},
                    {"ns", result.nanoseconds}});
}

Text captured_words(const CapturedFile& file) {
    const CaptureResult& result = file.result;
    Text text = says("{}: {} of process {}, {}. It stood still for {}", FilePath{file.path},
                     ByteCount{result.disk_bytes}, std::to_string(result.pid), GivenName{result.name},
                     Text(duration_text(result.stood_nanoseconds)).bold());
    if (result.method == CaptureMethod::fork) return text + ", while it was copied by a fork.";
    if (result.method == CaptureMethod::still) return text + ", until its core was written.";
    if (result.changed_pages == 0) return text + "; nothing had changed while it was copied.";
    text = text + says("; {} ({}) had changed while it was copied.", how_many(result.changed_pages, "page"),
                       ByteCount{result.changed_pages * captured_page});
    // Of a process that writes so much no copy can be ahead.
    constexpr std::uint64_t long_time = 1'000'000'000;
    if (result.stood_nanoseconds > long_time && result.changed_pages > result.pages / 2 &&
        result.no_fork.empty())
        text = text + " With --fork it would stand for a fraction of that.";
    return text;
}

}  // namespace

std::string duration_text(std::uint64_t nanoseconds) {
    const double milliseconds = static_cast<double>(nanoseconds) / 1e6;
    if (milliseconds < 10) return fmt::format("{:.1f} ms", milliseconds);
    if (milliseconds < 1000) return fmt::format("{:.0f} ms", milliseconds);
    return fmt::format("{:.1f} s", milliseconds / 1000);
}

Document render_capture(const std::vector<CapturedFile>& files, CapturesTold told) {
    Document document{.command = "capture"};
    document.data["captures"] = Datum::list_of(files, captured_data);
    if (told == CapturesTold::each && files.size() > 1) {
        const Text first(FilePath{files.front().path}), last(FilePath{files.back().path});
        document.say(
            sentence(says("{} are there, from {} to {}", how_many(files.size(), "core"), first, last)));
        document.say(hint(says("diff {} {}", Text(FilePath{files.front().path}).quoted(),
                               Text(FilePath{files.back().path}).quoted()),
                          "what grew between them"));
        return document;
    }
    for (const CapturedFile& file : files)
        document.say(sentence(told == CapturesTold::each ? says("One core is there: {}", FilePath{file.path})
                                                         : captured_words(file)));
    if (!files.empty())
        document.say(hint(Text(FilePath{files.front().path}).quoted(), "what fills its memory"));
    return document;
}

}  // namespace heapsift
