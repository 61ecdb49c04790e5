#pragma once

// Which source lines an instruction comes from, by a module's debug information.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heapsift {

struct SourceCall {
    std::string function;    // mangled, if the language mangles names; empty if unknown
    std::string file;        // as the compiler was told; empty if unknown
    std::uint32_t line = 0;  // 0 if unknown
};

class SourceLines {
public:
    /// Opens a file whose build-id was verified. Damage is normal: then it knows nothing. Cost: one pass over
    /// its entries, and about as much memory as the units that are asked about take (some MiB each).
    explicit SourceLines(const std::string& path);
    SourceLines(SourceLines&&) noexcept;
    SourceLines& operator=(SourceLines&&) noexcept;
    ~SourceLines();

    /// Why it knows nothing; empty if it was opened.
    const std::string& problem() const { return problem_; }
    /// The functions that are at `address` (a virtual address of the file): first the innermost of those that
    /// were inlined, last the one whose code it is. Empty if nothing is known. Where a function was inlined,
    /// `line` of the next one is where that was.
    std::vector<SourceCall> calls_at(std::uint64_t address) const;

private:
    struct Opened;
    std::unique_ptr<Opened> opened_;
    std::string problem_;
};

}  // namespace heapsift
