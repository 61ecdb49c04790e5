// A shell takes > and | for itself, so the conditions come as one quoted word; blanks in it mean nothing.

#include "cli/watch_conditions.h"

#include "cli/units.h"
#include "parsers/base/error.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace heapsift {
namespace {

struct MeasureName {
    std::string_view name;
    WatchMeasure measure;
};
constexpr std::array measure_names = {MeasureName{"rss", WatchMeasure::resident},
                                      MeasureName{"cgroup", WatchMeasure::group},
                                      MeasureName{"growth", WatchMeasure::growth}};

std::string_view name_of_measure(WatchMeasure measure) {
    return std::find_if(measure_names.begin(), measure_names.end(),
                        [&](const MeasureName& known) { return known.measure == measure; })
        ->name;
}

[[noreturn]] void refuse_condition(std::string_view typed, const std::string& why) {
    throw wrong_usage("bad-option", fmt::format("--when {}: {}", shell_quoted(typed), why),
                      "for example --when 'rss>80%', 'rss>80%|2GiB', 'cgroup>90%' or 'growth>500MiB'");
}

/// "80", "12.5": more than 0, at most 100.
std::optional<double> read_percentage(std::string_view text) {
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc() || end != text.data() + text.size() || !(number > 0 && number <= 100))
        return std::nullopt;
    return number;
}

class ConditionReader {
public:
    explicit ConditionReader(std::string_view typed) : typed_(typed) {
        std::copy_if(typed.begin(), typed.end(), std::back_inserter(text_),
                     [](char c) { return c != ' ' && c != '\t'; });
    }

    std::vector<WatchCondition> read() {
        std::string_view rest = text_;
        for (;;) {
            const std::size_t bar = std::min(rest.find('|'), rest.size());
            read_one(rest.substr(0, bar));
            if (bar == rest.size()) return result_;
            rest.remove_prefix(bar + 1);
        }
    }

private:
    void read_one(std::string_view text) {
        const std::size_t sign = text.find('>');
        if (sign != std::string_view::npos) {
            measure_ = read_measure(text.substr(0, sign));
            text.remove_prefix(sign + 1);
            if (text.starts_with('=')) text.remove_prefix(1);
        }
        if (!measure_) refuse_condition(typed_, "it begins with a measure: rss, cgroup or growth, and >");
        read_amount(text);
    }

    WatchMeasure read_measure(std::string_view name) const {
        const auto found = std::find_if(measure_names.begin(), measure_names.end(),
                                        [&](const MeasureName& known) { return known.name == name; });
        if (found == measure_names.end())
            refuse_condition(typed_, fmt::format("{} is not a measure: choose rss, cgroup or growth",
                                                 name.empty() ? "nothing" : shell_quoted(name)));
        return found->measure;
    }

    void read_amount(std::string_view text) {
        WatchCondition condition{*measure_, 0, 0};
        if (text.ends_with('%')) {
            if (*measure_ == WatchMeasure::growth) refuse_condition(typed_, "growth is told as a size");
            const auto percentage = read_percentage(text.substr(0, text.size() - 1));
            if (!percentage)
                refuse_condition(
                    typed_, fmt::format("{} is not a percentage above 0 and up to 100", shell_quoted(text)));
            condition.share = *percentage / 100;
        } else {
            const auto bytes = parse_quantity(text);
            if (!bytes || *bytes <= 0)
                refuse_condition(typed_, fmt::format("{} is not a size or a percentage",
                                                     text.empty() ? "nothing" : shell_quoted(text)));
            // Nobody waits for 80 bytes: what was meant is not known.
            if (text.find_first_not_of("0123456789") == std::string_view::npos) refuse_bare_number(text);
            condition.bytes = static_cast<std::uint64_t>(*bytes);
        }
        result_.push_back(condition);
    }

    [[noreturn]] void refuse_bare_number(std::string_view number) const {
        const std::string_view name = name_of_measure(*measure_);
        const std::string size = fmt::format("'{}>{}MiB'", name, number);
        const bool may_be_percentage = *measure_ != WatchMeasure::growth && read_percentage(number);
        refuse_condition(
            typed_, fmt::format("{} has no unit: type {}{}", number,
                                may_be_percentage ? fmt::format("'{}>{}%' or ", name, number) : "", size));
    }

    std::string_view typed_;
    std::string text_;
    std::optional<WatchMeasure> measure_;
    std::vector<WatchCondition> result_;
};

/// As the kernel does with the name of a program in core_pattern.
std::string file_name_part(std::string text) {
    std::replace(text.begin(), text.end(), '/', '!');
    std::replace(text.begin(), text.end(), '\0', '!');
    return text;
}

}  // namespace

std::vector<WatchCondition> read_watch_conditions(std::string_view typed) {
    return ConditionReader(typed).read();
}

std::vector<std::string> watch_beginnings() {
    std::vector<std::string> beginnings;
    for (const MeasureName& known : measure_names) beginnings.push_back(std::string(known.name) + ">");
    return beginnings;
}

std::string condition_words(const WatchCondition& condition, const WatchEnd& end) {
    const std::string threshold =
        condition.bytes > 0 ? binary_size(end.threshold)
                            : fmt::format("{:g} % ({})", condition.share * 100, binary_size(end.threshold));
    return fmt::format("{} is {}, more than {}", name_of_measure(condition.measure),
                       binary_size(end.measured), threshold);
}

std::chrono::seconds read_period(const std::string& option, std::string_view typed) {
    constexpr std::uint64_t longest = std::uint64_t{366} * 24 * 3600;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(typed.data(), typed.data() + typed.size(), number);
    const std::string_view unit = typed.substr(static_cast<std::size_t>(end - typed.data()));
    const std::uint64_t each = unit.empty() || unit == "s" ? 1
                               : unit == "m"               ? 60
                               : unit == "h"               ? 3600
                               : unit == "d"               ? 86400
                                                           : 0;
    if (error != std::errc() || each == 0 || number == 0 || number > longest / each)
        throw wrong_usage(
            "bad-option",
            fmt::format("{} {}: a time from one second to a year is needed", option, shell_quoted(typed)),
            fmt::format("for example {} 30s, 10m, 2h or 1d", option));
    return std::chrono::seconds(number * each);
}

std::string core_name(std::string_view pattern, const CoreNameParts& parts) {
    std::string name;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            name += pattern[i];
            continue;
        }
        switch (++i < pattern.size() ? pattern[i] : '\0') {
            case '%':
                name += '%';
                break;
            case 'p':
                name += std::to_string(parts.pid);
                break;
            case 't':
                name += std::to_string(parts.time);
                break;
            case 'n':
                name += std::to_string(parts.number);
                break;
            case 'h':
                name += file_name_part(parts.host);
                break;
            case 'e':
                name += file_name_part(parts.program);
                break;
            default:
                throw wrong_usage(
                    "bad-option",
                    fmt::format("-o {}: {} stands for nothing", shell_quoted(pattern),
                                pattern.substr(i - 1, 2)),
                    "%p is the process id, %t the time, %n a number, %e the program, %h the host, %% a %");
        }
    }
    return name;
}

bool names_differ(std::string_view pattern) {
    for (std::size_t i = 0; i + 1 < pattern.size(); ++i)
        if (pattern[i] == '%' && (pattern[++i] == 't' || pattern[i] == 'n')) return true;
    return false;
}

}  // namespace heapsift
