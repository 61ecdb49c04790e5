#include "cli/report/read_fleet.h"

#include "cli/report/lines_source.h"
#include "cli/units.h"

#include <optional>
#include <utility>

namespace heapsift {
namespace {

/// Takes the lines of one file.
void read_lines_of(Fleet& fleet, const std::string& path, const ProgressCallback& progress) {
    constexpr std::size_t lines_between = 1000;
    LinesSource source(path);
    fleet.begin_file();
    FleetLine line;
    std::string_view text;
    for (std::size_t number = 0;; ++number) {
        const LinesSource::Got got = source.next(text);
        if (got == LinesSource::Got::end) return;
        if (got == LinesSource::Got::damaged) {
            fleet.note_damaged_file();
            continue;
        }
        if (progress && number % lines_between == 0 && source.file_bytes() > 0)
            progress("lines",
                     static_cast<double>(source.read_bytes()) / static_cast<double>(source.file_bytes()));
        if (got == LinesSource::Got::too_long) {
            fleet.skip_too_long();
            continue;
        }
        if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        switch (read_fleet_line(text, line)) {
            case FleetLineState::read:
                fleet.add(line);
                break;
            case FleetLineState::no_json:
                if (got == LinesSource::Got::unended)
                    fleet.skip_unended();
                else
                    fleet.skip_no_json();
                break;
            case FleetLineState::other_schema:
                fleet.skip_other_schema();
                break;
        }
    }
}

}  // namespace

Fleet read_fleet(const std::vector<std::string>& files, const ProgressCallback& progress) {
    Fleet fleet;
    for (const std::string& path : files) read_lines_of(fleet, path, progress);
    std::optional<FleetRepeats> repeats = fleet.repeats();
    if (!repeats) return fleet;
    fleet = Fleet(std::move(*repeats));
    for (const std::string& path : files) read_lines_of(fleet, path, progress);
    return fleet;
}

void note_skipped_lines(const Fleet::Skipped& skipped, Diagnostics& notes) {
    const auto note = [&](std::string_view code, std::uint64_t count, const char* one, const char* several,
                          Severity severity = Severity::damage) {
        if (count > 0)
            notes.add(code, count == 1 ? std::string("1 ") + one : grouped(count) + " " + several, severity);
    };
    note("lines-unended", skipped.unended, "last line is not whole, and was skipped",
         "last lines are not whole, and were skipped", Severity::note);
    note("lines-no-json", skipped.no_json, "line is no JSON, and was skipped",
         "lines are no JSON, and were skipped");
    note("lines-other-schema", skipped.other_schema,
         "line is of another schema than heapsift.batch/1, and was skipped",
         "lines are of another schema than heapsift.batch/1, and were skipped");
    note("lines-too-long", skipped.too_long, "line is longer than 16 MiB, and was skipped",
         "lines are longer than 16 MiB, and were skipped");
    note("lines-damaged", skipped.damaged_files, "file is cut or damaged: what follows was not read",
         "files are cut or damaged: what follows was not read");
}

}  // namespace heapsift
