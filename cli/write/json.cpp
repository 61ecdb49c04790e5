// JSON. Rows are written directly from their data, without a tree of objects between: there may be millions.
// Every byte is as nlohmann's library would write it, and that library writes what is rare: fractions, and
// text that is not UTF-8.

#include "cli/write/json.h"

#include "cli/write/spans.h"
#include "cli/write/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t enough_to_write = 1 << 15;

template <class Number>
void add_number(std::string& out, Number number) {
    std::array<char, 24> digits;
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

void add_address(std::string& out, Address address) {
    std::array<char, 24> text = {'"', '0', 'x'};
    char* end = std::to_chars(text.data() + 3, text.data() + text.size() - 1, address.value, 16).ptr;
    *end++ = '"';
    out.append(text.data(), static_cast<std::size_t>(end - text.data()));
}

/// Rows with what stands between them, in pieces of some size.
class JsonRows final : public JsonFields {
public:
    JsonRows(Redactor& redactor, std::string_view before_first, std::string_view before,
             std::string_view after, const std::function<void(std::string_view)>& write)
        : JsonFields(text_, redactor), next_(before_first), before_(before), after_(after), write_(write) {}

    void begin() override {
        text_ += std::exchange(next_, before_);
        JsonFields::begin();
    }
    void end() override {
        JsonFields::end();
        text_ += after_;
        if (text_.size() > enough_to_write) flush();
    }
    void flush() {
        write_(text_);
        text_.clear();
    }

private:
    std::string text_;
    std::string_view next_, before_, after_;
    const std::function<void(std::string_view)>& write_;
};

/// Appends to a text. With `write`, what is there is written and taken out of it when it has some size.
class JsonText {
public:
    using Write = std::function<void(std::string_view)>;
    JsonText(std::string& out, Redactor& redactor, const Write* write = nullptr)
        : out_(out), redactor_(redactor), write_(write) {}

    void add(const Datum& datum) { std::visit(*this, datum.content()); }

    void operator()(std::nullptr_t) { out_ += "null"; }
    void operator()(bool truth) { out_ += truth ? "true" : "false"; }
    void operator()(std::int64_t number) { add_number(out_, number); }
    void operator()(std::uint64_t number) { add_number(out_, number); }
    void operator()(double number) { out_ += Json(number).dump(); }
    void operator()(const std::string& text) { add_json_string(out_, text); }
    void operator()(Address address) { add_address(out_, address); }
    void operator()(const std::shared_ptr<const Datum::Long>& text) {
        const bool withheld = redactor_.active() && !text->for_people &&
                              std::holds_alternative<Withheld>(text->text.spans().front().content);
        if (withheld)
            out_ += "null";
        else
            add_json_string(out_, long_text(*text, redactor_));
    }
    void operator()(const Datum::List& list) {
        out_ += '[';
        for (const Datum& item : list) {
            if (&item != list.data()) out_ += ',';
            add(item);
        }
        out_ += ']';
    }
    void operator()(const std::shared_ptr<const Datum::Stream>& items) {
        out_ += '[';
        bool first = true;
        (*items)([&](const Datum& item) {
            if (!std::exchange(first, false)) out_ += ',';
            add(item);
            if (write_ && out_.size() > enough_to_write) {
                (*write_)(out_);
                out_.clear();
            }
        });
        out_ += ']';
    }
    void operator()(const Datum::Entries& entries) {
        out_ += '{';
        members(entries);
        out_ += '}';
    }
    /// Without the brackets.
    void members(const Datum::Entries& entries) {
        for (const Entry& entry : entries) {
            if (&entry != entries.data()) out_ += ',';
            add_json_string(out_, entry.name);
            out_ += ':';
            add(entry.value);
        }
    }

private:
    std::string& out_;
    Redactor& redactor_;
    const Write* write_;
};

void number_in(const Datum& datum, Redactor& redactor) {
    if (const auto* text = std::get_if<std::shared_ptr<const Datum::Long>>(&datum.content()))
        long_text(**text, redactor);
    if (const auto* list = std::get_if<Datum::List>(&datum.content()))
        for (const Datum& item : *list) number_in(item, redactor);
    if (const auto* items = std::get_if<std::shared_ptr<const Datum::Stream>>(&datum.content()))
        (**items)([&](const Datum& item) { number_in(item, redactor); });
    if (const auto* entries = std::get_if<Datum::Entries>(&datum.content()))
        for (const Entry& entry : *entries) number_in(entry.value, redactor);
}

}  // namespace

std::string json_text(const Datum& datum, Redactor& redactor) {
    std::string text;
    JsonText(text, redactor).add(datum);
    return text;
}

// Names of fields are our own, and need no escaping.
void JsonFields::key(std::string_view name) {
    const bool first = out_.back() == '{';
    const std::size_t length = out_.size();
    out_.resize(length + name.size() + (first ? 3 : 4));
    char* at = out_.data() + length;
    if (!first) *at++ = ',';
    *at++ = '"';
    at = std::copy(name.begin(), name.end(), at);
    *at++ = '"';
    *at = ':';
}

void JsonFields::null(std::string_view name) {
    key(name);
    out_ += "null";
}

void JsonFields::truth(std::string_view name, bool value) {
    key(name);
    out_ += value ? "true" : "false";
}

void JsonFields::number(std::string_view name, std::int64_t value) {
    key(name);
    add_number(out_, value);
}

void JsonFields::number(std::string_view name, std::uint64_t value) {
    key(name);
    add_number(out_, value);
}

void JsonFields::text(std::string_view name, std::string_view value) {
    key(name);
    add_json_string(out_, value);
}

void JsonFields::address(std::string_view name, Address value) {
    key(name);
    add_address(out_, value);
}

void JsonFields::value(std::string_view name, const ShortValue& value, std::string_view type) {
    if (value.kind == ShortValue::Kind::none) return null(name);
    key(name);
    if (redactor_.active())
        add_json_string(out_, redactor_.value(value, type));
    else
        add_json_string(out_, value.text);
}

void JsonFields::reference(std::string_view name, const ReferenceStep& step) {
    key(name);
    add_json_string(out_, redactor_.reference_name(step));
}

void JsonFields::path(std::string_view name, const std::string& path) {
    key(name);
    add_json_string(out_, redactor_.path(path));
}

void write_json(const Json& head, const Document& document, Redactor& redactor,
                const std::function<void(std::string_view)>& write) {
    std::string text = json_text(head);
    text.pop_back();
    write(text + ",\"data\":{");
    bool first_key = true;
    const auto begin_table = [&](const std::string& key) {
        write((first_key ? "" : ",") + json_text(Json(key)) + ":[");
        first_key = false;
    };
    const auto write_table = [&](const std::string& key, const RowsOf<Datum>& rows) {
        begin_table(key);
        bool first = true;
        rows([&](const Datum& row) {
            text = first ? "\n" : ",\n";
            JsonText(text, redactor).add(row);
            write(text);
            first = false;
        });
        write("]");
    };
    if (document.field_rows) {
        begin_table(document.rows_key);
        JsonRows rows(redactor, "\n", ",\n", "", write);
        document.field_rows(rows);
        rows.flush();
        write("]");
    } else if (document.rows) {
        write_table(document.rows_key, document.rows);
    }
    for (const Document::Table& table : document.more_tables) write_table(table.key, table.rows);
    text = first_key || document.data.empty() ? "" : ",";
    JsonText(text, redactor, &write).members(std::get<Datum::Entries>(document.data.content()));
    write(text + "}}\n");
}

void write_json_lines(const Document& document, Redactor& redactor,
                      const std::function<void(std::string_view)>& write) {
    if (!document.rows) {
        std::string text;
        JsonText(text, redactor, &write).add(document.data);
        write(text + "\n");
        return;
    }
    if (document.field_rows) {
        JsonRows rows(redactor, "", "", "\n", write);
        document.field_rows(rows);
        rows.flush();
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
