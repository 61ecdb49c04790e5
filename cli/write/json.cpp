// JSON. Rows are written directly from their data, without a tree of objects between: there may be millions.
// Every byte is as nlohmann's library would write it, and that library writes what is rare: fractions, and
// text beyond printable ASCII.

#include "cli/write/json.h"

#include "cli/units.h"
#include "cli/write/spans.h"
#include "cli/write/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace heapsift {
namespace {

class JsonText {
public:
    JsonText(std::string& out, Redactor& redactor) : out_(out), redactor_(redactor) {}

    void add(const Datum& datum) { std::visit(*this, datum.content()); }

    void operator()(std::nullptr_t) { out_ += "null"; }
    void operator()(bool truth) { out_ += truth ? "true" : "false"; }
    void operator()(std::int64_t number) { fmt::format_to(std::back_inserter(out_), "{}", number); }
    void operator()(std::uint64_t number) { fmt::format_to(std::back_inserter(out_), "{}", number); }
    void operator()(double number) { out_ += Json(number).dump(); }
    void operator()(const std::string& text) { string(text); }
    void operator()(Address address) {
        fmt::format_to(std::back_inserter(out_), "\"0x{:x}\"", address.value);
    }
    void operator()(const std::shared_ptr<const Datum::Long>& text) {
        const bool withheld = redactor_.active() && !text->for_people &&
                              std::holds_alternative<Withheld>(text->text.spans().front().content);
        if (withheld)
            out_ += "null";
        else
            string(long_text(*text, redactor_));
    }
    void operator()(const Datum::List& list) {
        out_ += '[';
        for (const Datum& item : list) {
            if (&item != list.data()) out_ += ',';
            add(item);
        }
        out_ += ']';
    }
    void operator()(const Datum::Entries& entries) {
        out_ += '{';
        for (const Entry& entry : entries) {
            if (&entry != entries.data()) out_ += ',';
            string(entry.name);
            out_ += ':';
            add(entry.value);
        }
        out_ += '}';
    }

private:
    void string(const std::string& text) {
        const bool simple = std::all_of(
            text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
        if (simple)
            out_.append(1, '"').append(text).append(1, '"');
        else
            out_ += json_text(Json(text));
    }

    std::string& out_;
    Redactor& redactor_;
};

void number_in(const Datum& datum, Redactor& redactor) {
    if (const auto* text = std::get_if<std::shared_ptr<const Datum::Long>>(&datum.content()))
        long_text(**text, redactor);
    if (const auto* list = std::get_if<Datum::List>(&datum.content()))
        for (const Datum& item : *list) number_in(item, redactor);
    if (const auto* entries = std::get_if<Datum::Entries>(&datum.content()))
        for (const Entry& entry : *entries) number_in(entry.value, redactor);
}

}  // namespace

std::string json_text(const Datum& datum, Redactor& redactor) {
    std::string text;
    JsonText(text, redactor).add(datum);
    return text;
}

void write_json(const Json& head, const Document& document, Redactor& redactor,
                const std::function<void(std::string_view)>& write) {
    std::string text = json_text(head);
    text.pop_back();
    write(text + ",\"data\":{");
    bool first_key = true;
    const auto write_table = [&](const std::string& key, const RowsOf<Datum>& rows) {
        write((first_key ? "" : ",") + json_text(Json(key)) + ":[");
        first_key = false;
        bool first = true;
        rows([&](const Datum& row) {
            text = first ? "\n" : ",\n";
            JsonText(text, redactor).add(row);
            write(text);
            first = false;
        });
        write("]");
    };
    if (document.rows) write_table(document.rows_key, document.rows);
    for (const Document::Table& table : document.more_tables) write_table(table.key, table.rows);
    text = json_text(document.data, redactor);
    write((first_key || document.data.empty() ? "" : ",") + text.substr(1, text.size() - 2) + "}}\n");
}

void write_json_lines(const Document& document, Redactor& redactor,
                      const std::function<void(std::string_view)>& write) {
    if (!document.rows) {
        write(json_text(document.data, redactor) + "\n");
        return;
    }
    std::string text;
    document.rows([&](const Datum& row) {
        text.clear();
        JsonText(text, redactor).add(row);
        text += '\n';
        write(text);
    });
}

void number_values(const Datum& data, Redactor& redactor) {
    if (redactor.active()) number_in(data, redactor);
}

}  // namespace heapsift
