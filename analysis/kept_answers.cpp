#include "analysis/kept_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace heapsift {
namespace {

constexpr std::size_t most_answers = 64;  // a file has places for 83, and each takes one
constexpr std::uint64_t most_bytes_of_file = 32 << 20;

/// FNV-1a.
std::uint64_t hash_of(const std::string& text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

}  // namespace

std::string KeptQuestion::part_name() const { return fmt::format("{} {:012x}", name_, hash_of(text_) >> 16); }

KeptQuestion& KeptQuestion::with_number(std::uint64_t value) {
    text_ += fmt::format(" {}", value);
    return *this;
}

void KeptAnswers::begin(const KeptQuestion& question, PartReader& part) {
    std::string text;
    part.text(text);
    part.require(text == question.text(), "an answer is another question's");
}

/// Two questions of one run may need the same search; a file has one part of a name.
void KeptAnswers::note(PartWriter part, std::uint64_t most) {
    if (std::any_of(found_.begin(), found_.end(),
                    [&](const PartWriter& found) { return found.name() == part.name(); }))
        return;
    std::uint64_t bytes = 0;
    for (const std::span<const std::byte> blob : part.blobs()) bytes += blob.size();
    if (bytes <= most) found_.push_back(std::move(part));
}

bool KeptAnswers::is_full(const IndexFile& file, std::size_t new_answers) {
    return file.parts().size() + new_answers > most_answers || file.bytes() > most_bytes_of_file;
}

}  // namespace heapsift
