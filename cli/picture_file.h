#pragma once

// The picture that a command draws beside its answer: --svg FILE.

#include "cli/command_options.h"
#include "cli/output_file.h"
#include "cli/session.h"

#include <functional>
#include <optional>
#include <string>

namespace heapsift {

struct PictureOptions {
    std::string path;  // empty: none
    bool overwrite = false;
};

/// Declares --svg, and -f for it.
void declare_picture(CommandOptions& declare, PictureOptions& options, const std::string& description);

/// Opened before the work, and there when it is whole; nothing if no picture was asked for.
class PictureFile {
public:
    /// Throws `Error` as OutputFile does.
    PictureFile(Session& session, const PictureOptions& options);
    /// The file gets what `draw` returns, and its name.
    void write(const std::function<std::string()>& draw);

private:
    std::optional<OutputFile> file_;
};

}  // namespace heapsift
