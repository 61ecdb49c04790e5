#include "parsers/index/part.h"

#include <utility>

namespace heapsift {

std::vector<std::span<const std::byte>> PartWriter::blobs() const {
    std::vector<std::span<const std::byte>> all{small_};
    all.insert(all.end(), columns_.begin(), columns_.end());
    return all;
}

PartReader::PartReader(std::vector<std::span<const std::byte>> blobs, bool check,
                       std::shared_ptr<const void> file)
    : check_(check), file_(std::move(file)) {
    require(!blobs.empty(), "a part has no fields");
    small_ = blobs.front();
    columns_.assign(blobs.begin() + 1, blobs.end());
}

void PartReader::text(std::string& value) {
    std::uint64_t length = 0;
    number(length);
    const std::byte* at = take(length);
    value.assign(reinterpret_cast<const char*>(at), length);
}

void PartReader::finish() const {
    require(small_.empty() && next_ == columns_.size(), "a part is longer than its fields");
}

const std::byte* PartReader::take(std::uint64_t bytes) {
    require(bytes <= small_.size(), "a part ends in the middle of a field");
    const std::byte* at = small_.data();
    small_ = small_.subspan(bytes);
    return at;
}

std::span<const std::byte> PartReader::next_column(std::size_t alignment, std::size_t width) {
    require(next_ < columns_.size(), "a column is missing");
    const std::span<const std::byte> bytes = columns_[next_++];
    require(bytes.size() % width == 0, "a column has half a value");
    require(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0, "a column is not aligned");
    return bytes;
}

}  // namespace heapsift
