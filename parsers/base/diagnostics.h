#pragma once

// What was odd and was skipped. Odd input is normal in a core: it is counted by kind, reported once, and
// never stops an answer.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// `note` changes nothing in the answer (a file was not found). `damage` means that bytes are missing or
/// structures cannot be read, so the answer is partial (exit 3).
enum class Severity { note, damage };

struct Diagnostic {
    std::string code;     // stable, kebab-case
    std::string message;  // one line: lower case, no final period
    Severity severity = Severity::note;
    std::uint64_t count = 1;  // how often a diagnostic of this code was added; the first message is kept
};

/// Collects diagnostics in the order of first appearance. Not thread-safe.
class Diagnostics {
public:
    void add(std::string_view code, std::string_view message, Severity severity = Severity::note) {
        add({std::string(code), std::string(message), severity, 1});
    }
    /// One that was counted elsewhere.
    void add(const Diagnostic& diagnostic) {
        for (Diagnostic& known : all_) {
            if (known.code == diagnostic.code) {
                known.count += diagnostic.count;
                if (diagnostic.severity == Severity::damage) known.severity = Severity::damage;
                return;
            }
        }
        all_.push_back(diagnostic);
    }
    const std::vector<Diagnostic>& all() const { return all_; }
    /// False once a diagnostic of severity `damage` was added.
    bool complete() const {
        for (const Diagnostic& d : all_)
            if (d.severity == Severity::damage) return false;
        return true;
    }

private:
    std::vector<Diagnostic> all_;
};

}  // namespace heapsift
