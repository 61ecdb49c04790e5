#pragma once

#include "cli/document/document.h"
#include "cli/write/csv.h"
#include "cli/write/json.h"
#include "cli/write/text.h"

#include <string>
#include <vector>

namespace heapsift::test {

/// A page on which nothing is shortened, and its redactor.
struct Shown {
    Redactor redactor;
    Page page;
    explicit Shown(bool redact = false) : redactor(redact) { page.redactor = &redactor; }
};

/// A document as the writers write it.
struct Written {
    Document document;
    Redactor& redactor;
    Json data;

    Written(Document made, Shown& shown)
        : document(std::move(made)),
          redactor(shown.redactor),
          data(Json::parse(json_text(document.data, redactor))) {}
    std::string text(const Page& page) const { return written(document, page); }
    /// The heading, and a line a row.
    std::string csv() const {
        std::string text;
        write_csv(document, redactor, [&](std::string_view line) { text += line; });
        return text;
    }
};

inline std::vector<Json> rows_of(const Written& answer) {
    std::vector<Json> rows;
    if (answer.document.rows)
        answer.document.rows(
            [&](const Datum& row) { rows.push_back(Json::parse(json_text(row, answer.redactor))); });
    return rows;
}

}  // namespace heapsift::test
