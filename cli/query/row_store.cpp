#include "cli/query/row_store.h"

#include <cstring>

namespace heapsift {
namespace {

constexpr std::size_t piece_bytes = 1 << 16;

template <class T>
void add_bytes(std::string& piece, const T& value) {
    piece.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
T take_bytes(const std::string& piece, std::size_t& at) {
    T value;
    std::memcpy(&value, piece.data() + at, sizeof value);
    at += sizeof value;
    return value;
}
void add_text(std::string& piece, const std::string& text) {
    add_bytes(piece,
              static_cast<std::uint32_t>(text.size()));  // SQLite's longest value has less than 2^31 bytes
    piece += text;
}
std::string take_text(const std::string& piece, std::size_t& at) {
    const auto size = take_bytes<std::uint32_t>(piece, at);
    std::string text = piece.substr(at, size);
    at += size;
    return text;
}

}  // namespace

void RowStore::add(const std::vector<SqlCell>& row) {
    if (pieces_.empty() || pieces_.back().size() >= piece_bytes) pieces_.emplace_back();
    std::string& piece = pieces_.back();
    const std::size_t before = piece.size();
    for (const SqlCell& cell : row) {
        piece += static_cast<char>(cell.index());
        if (const auto* number = std::get_if<std::int64_t>(&cell)) add_bytes(piece, *number);
        if (const auto* fraction = std::get_if<double>(&cell)) add_bytes(piece, *fraction);
        if (const auto* text = std::get_if<std::string>(&cell)) add_text(piece, *text);
        if (const auto* blob = std::get_if<SqlBlob>(&cell)) add_text(piece, blob->bytes);
    }
    bytes_ += piece.size() - before;
    ++size_;
}

void RowStore::for_each(const std::function<void(const std::vector<SqlCell>&)>& visit) const {
    std::vector<SqlCell> row(columns_);
    for (const std::string& piece : pieces_)
        for (std::size_t at = 0; at < piece.size();) {
            for (SqlCell& cell : row) switch (piece[at++]) {
                    case 1:
                        cell = take_bytes<std::int64_t>(piece, at);
                        break;
                    case 2:
                        cell = take_bytes<double>(piece, at);
                        break;
                    case 3:
                        cell = take_text(piece, at);
                        break;
                    case 4:
                        cell = SqlBlob{take_text(piece, at)};
                        break;
                    default:
                        cell = std::monostate();
                }
            visit(row);
        }
}

}  // namespace heapsift
