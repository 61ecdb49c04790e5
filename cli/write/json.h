#pragma once

// A document as JSON: a single document, or one line for each row.

#include "cli/document/document.h"
#include "cli/json.h"
#include "cli/redact.h"

#include <functional>
#include <string>
#include <string_view>

namespace heapsift {

/// One line of ASCII, as `json_text` writes it.
std::string json_text(const Datum& datum, Redactor& redactor);

/// Writes rows as JSON objects at the end of a text: the same bytes as `json_text` of their Datum.
class JsonFields : public Fields {
public:
    JsonFields(std::string& out, Redactor& redactor) : out_(out), redactor_(redactor) {}
    void begin() override { out_ += '{'; }
    void end() override { out_ += '}'; }
    void null(std::string_view name) override;
    void truth(std::string_view name, bool value) override;
    void number(std::string_view name, std::int64_t value) override;
    void number(std::string_view name, std::uint64_t value) override;
    void text(std::string_view name, std::string_view value) override;
    void address(std::string_view name, Address value) override;
    void value(std::string_view name, const ShortValue& value, std::string_view type) override;
    void reference(std::string_view name, const ReferenceStep& step) override;
    void path(std::string_view name, const std::string& path) override;

private:
    void key(std::string_view name);

    std::string& out_;
    Redactor& redactor_;
};

/// The whole document: `head`, which is everything but "data", then the data. Rows are written as they are
/// made: a document of all objects of a large heap does not fit in memory.
void write_json(const Json& head, const Document& document, Redactor& redactor,
                const std::function<void(std::string_view)>& write);

/// One line for each row; a single line if the document is no table.
void write_json_lines(const Document& document, Redactor& redactor,
                      const std::function<void(std::string_view)>& write);

/// Numbers the values in `data` for redaction, so that text and JSON give a value the same number whatever is
/// written of them.
void number_values(const Datum& data, Redactor& redactor);

}  // namespace heapsift
