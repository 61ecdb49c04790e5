#include "cli/browse/list.h"

#include "cli/write/spans.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace heapsift {
namespace {

/// Only ASCII has another case here: that is what names are made of.
std::string in_lower_case(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

}  // namespace

ListView::ListView(std::shared_ptr<List> list, const Page& page)
    : list_(std::move(list)), page_(page), texts_(list_->rows.size()), sorted_by_(list_->sorted_by) {
    order();
    move_to(list_->begins_at);
}

void ListView::into_words(std::vector<ListRow*> rows) {
    std::erase_if(rows, [](const ListRow* row) { return !row->cells.empty(); });
    if (!rows.empty() && list_->words) list_->words(rows);
    for (ListRow* row : rows) row->cells.resize(list_->columns.size());
}

void ListView::need(std::size_t first, std::size_t count) {
    std::vector<ListRow*> rows;
    for (std::size_t at = first; at < std::min(size(), first + count); ++at)
        rows.push_back(&list_->rows[shown_[at]]);
    into_words(std::move(rows));
}

const ListRow& ListView::row(std::size_t at) {
    need(at, 1);
    return list_->rows[shown_[at]];
}

void ListView::move(std::ptrdiff_t by) {
    if (empty()) return;
    const auto last = static_cast<std::ptrdiff_t>(size()) - 1;
    cursor_ = static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(cursor_) + by, 0, last));
}

void ListView::move_to(std::size_t at) { cursor_ = empty() ? 0 : std::min(at, size() - 1); }

void ListView::scroll(std::size_t height) {
    if (height == 0) return;
    if (cursor_ < top_) top_ = cursor_;
    if (cursor_ >= top_ + height) top_ = cursor_ + 1 - height;
    if (top_ + height > size()) top_ = size() > height ? size() - height : 0;
}

const std::string& ListView::text_of(std::size_t row) {
    std::string& text = texts_[row];
    if (!text.empty()) return text;
    into_words({&list_->rows[row]});
    for (const Text& cell : list_->rows[row].cells) text += plain(cell, page_) + "\n";
    for (const Text& line : list_->rows[row].subject.about) text += plain(line, page_) + "\n";
    return text = in_lower_case(std::move(text));
}

bool ListView::has(std::size_t row, const std::string& lower) {
    return text_of(row).find(lower) != std::string::npos;
}

void ListView::filter(const std::string& text) {
    if (text == filter_) return;
    filter_ = text;
    order();
}

/// The row under the cursor stays under it, where it is still shown.
void ListView::order() {
    const std::size_t row = empty() ? 0 : shown_[cursor_];
    std::vector<std::size_t> all(list_->rows.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const ListColumn* column = sorted_by_ < list_->columns.size() ? &list_->columns[sorted_by_] : nullptr;
    if (!list_->in_order && column && sorted_by_ != list_->sorted_by) {
        if (column->number) {
            const std::size_t number = *column->number;
            std::stable_sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
                return list_->rows[a].numbers[number] > list_->rows[b].numbers[number];
            });
        } else {
            std::vector<ListRow*> rows;
            for (ListRow& one : list_->rows) rows.push_back(&one);
            into_words(std::move(rows));
            std::vector<std::string> texts;
            for (const ListRow& one : list_->rows) texts.push_back(plain(one.cells[sorted_by_], page_));
            std::stable_sort(all.begin(), all.end(),
                             [&](std::size_t a, std::size_t b) { return texts[a] < texts[b]; });
        }
    }
    if (!filter_.empty()) {
        const std::string lower = in_lower_case(filter_);
        std::vector<ListRow*> rows;
        for (ListRow& one : list_->rows) rows.push_back(&one);
        into_words(std::move(rows));
        std::erase_if(all, [&](std::size_t one) { return !has(one, lower); });
    }
    const bool had_rows = !empty();
    shown_ = std::move(all);
    const auto place = std::find(shown_.begin(), shown_.end(), row);
    cursor_ = had_rows && place != shown_.end() ? static_cast<std::size_t>(place - shown_.begin()) : 0;
}

bool ListView::search(const std::string& text, bool backwards, bool from_cursor) {
    if (empty() || text.empty()) return false;
    const std::string lower = in_lower_case(text);
    std::vector<ListRow*> rows;
    for (const std::size_t one : shown_) rows.push_back(&list_->rows[one]);
    into_words(std::move(rows));
    for (std::size_t step = from_cursor ? 0 : 1; step <= size(); ++step) {
        const std::size_t at = (backwards ? cursor_ + 2 * size() - step : cursor_ + step) % size();
        if (!has(shown_[at], lower)) continue;
        cursor_ = at;
        return true;
    }
    return false;
}

bool ListView::sort_by_next() {
    if (list_->in_order || list_->columns.size() < 2) return false;
    sorted_by_ = sorted_by_ + 1 >= list_->columns.size() ? 0 : sorted_by_ + 1;
    order();
    cursor_ = 0;  // what is first by another measure is what the key is pressed for
    top_ = 0;
    return true;
}

}  // namespace heapsift
