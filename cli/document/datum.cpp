#include "cli/document/datum.h"

#include <algorithm>
#include <utility>

namespace heapsift {
namespace {

std::shared_ptr<const Datum::Long> behind_pointer(Text text, bool for_people = false) {
    return std::make_shared<const Datum::Long>(Datum::Long{std::move(text), for_people});
}

}  // namespace

Datum::Datum(Value value) : content_(nullptr) {
    if (!value.empty()) content_ = behind_pointer(std::move(value));
}
Datum::Datum(Notation name) : content_(behind_pointer(std::move(name))) {}
Datum::Datum(Expression expression) : content_(behind_pointer(std::move(expression))) {}
Datum::Datum(FilePath path) : content_(behind_pointer(std::move(path))) {}
Datum::Datum(Message message) : content_(behind_pointer(std::move(message))) {}
Datum::Datum(ProcessCall arguments) : content_(behind_pointer(std::move(arguments))) {}
Datum::Datum(GivenName name) : content_(behind_pointer(std::move(name))) {}
Datum::Datum(Withheld text) : content_(nullptr) {
    if (!text.text.empty()) content_ = behind_pointer(std::move(text));
}
Datum::Datum(Text text) : content_(behind_pointer(std::move(text), true)) {}
Datum::Datum(List list) : content_(std::move(list)) {}
Datum::Datum(Entries entries) : content_(std::move(entries)) {}
Datum::Datum(Stream items) : content_(std::make_shared<const Stream>(std::move(items))) {}

Datum Datum::object() { return Entries(); }

Datum Datum::list(std::size_t reserve) {
    List list;
    list.reserve(reserve);
    return list;
}

Datum& Datum::operator[](std::string_view name) {
    if (is_null()) content_ = Entries();
    auto& all = std::get<Entries>(content_);
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Entry& entry) { return entry.name == name; });
    if (found != all.end()) return found->value;
    if (all.capacity() == 0) all.reserve(16);
    return all.emplace_back(Entry{std::string(name), {}}).value;
}

const Datum* Datum::find(std::string_view name) const {
    const auto* all = std::get_if<Entries>(&content_);
    if (!all) return nullptr;
    const auto found =
        std::find_if(all->begin(), all->end(), [&](const Entry& entry) { return entry.name == name; });
    return found == all->end() ? nullptr : &found->value;
}

void Datum::push_back(Datum item) { std::get<List>(content_).push_back(std::move(item)); }

bool Datum::empty() const {
    if (const auto* all = std::get_if<Entries>(&content_)) return all->empty();
    const auto* list = std::get_if<List>(&content_);
    return !list || list->empty();
}

Datum entries(std::initializer_list<Entry> entries) { return Datum::Entries(entries); }

Datum or_null(const std::string& text) { return text.empty() ? Datum() : Datum(text); }
Datum or_null(Expression expression) { return expression.empty() ? Datum() : Datum(std::move(expression)); }
Datum or_null(Address address) { return address.is_null() ? Datum() : Datum(address); }

}  // namespace heapsift
