// What help and the manual say of the tables, and a dozen questions. tests/real/query.py asks each of them.

#include "cli/query/query_help.h"

#include "cli/commands/query.h"
#include "parsers/base/program_name.h"

#include <string>

namespace heapsift {
namespace {

constexpr const char* tables_of_query = R"(
Tables (the same in an export, heap.db)

  object(address, type_id, size, memory, block_size, refcount, gc_tracked,
         generation, state, retained, dominator, value, native)
  type(id, name, address, basicsize, itemsize, base_id)
  reference(source, target, name, kind, followed)
  root(address, kind, name)
  array(address, dtype, shape, strides, nbytes, data, owns_data, base, owner)
  string(address, length, hash, value)   str and bytes; 4,000 characters of
                                         each; equal hashes, equal values
  holder(type, holder, attribute, expression, example, count, size, memory,
         array_data, native, retained)
  native(address, size, class, content, held_by, leaked)
  thread(id, tid, name, gil, ident, interpreter, state, retained)
  frame(thread_id, depth, function, file, line, frame, code, retained)
  task(address, kind, name, coroutine, function, file, line, awaits,
       waits_for, finishes, retained, expression)
  region(start, size, flags, saved, file, owner)
  meta(key, value)

An export has one more, inventory(form, part): what `diff` and `report OLD NEW`
read of it in place of the core; for no other program. With --redact it is
left out.

Views, with names and addresses as text: named_object, named_reference,
named_root, named_array, type_total. There write WHERE target = '0x7f31c2a4d5e0'
or = hex(a); in the tables an address is a number.

Found without reading all rows: object by address, type_id or dominator;
reference by source or target; type by id or name; array, string, native,
root and task by address. `help export` explains the columns.

Functions: hex(a), an address as "0x..." (of text and blobs what SQLite's hex
gives); expr(a), what Python calls the object; why(a), the path that keeps it
alive; value(a) and value(a, characters); size_text(n). Addresses are
integers, and 0x7f31c2a4d5e0 is one; from 2^63 on they are negative, minus
2^64. Text from the core is escaped, as in CSV.

From a file, as CSV:
)";

constexpr const char* end_of_query_help = R"(
Only reading is allowed: nothing is written, no file opened. --timeout counts
the query's own time, not that in which heapsift works out what it needs
(retained sizes, say). Exit codes: 0 answered; 1 not enough memory; 2 the SQL
is wrong, or would write; 3 the core is cut or damaged; 4 --timeout.
)";

}  // namespace

const std::vector<QueryExample>& query_examples() {
    static const std::vector<QueryExample> examples = {
        {"What are the ten largest types?",
         "SELECT name, count, size_text(memory) FROM type_total\n"
         "ORDER BY memory DESC LIMIT 10"},
        {"Which objects retain most, and what are they called?",
         "SELECT address, size_text(retained), expr(address) FROM object\n"
         "ORDER BY retained DESC LIMIT 10"},
        {"Which dicts retain more than 1 MiB?",
         "SELECT o.address, o.retained, o.value FROM type t JOIN object o\n"
         "ON o.type_id = t.id WHERE t.name = 'dict' AND o.retained > 1<<20"},
        {"Who refers to the largest str?",
         "SELECT s.address, r.source, r.name FROM reference r JOIN\n"
         "(SELECT address FROM string ORDER BY length DESC LIMIT 1) s\n"
         "ON r.target = s.address"},
        {"What do lists hold, by type?",
         "SELECT u.name, count(*) FROM type t JOIN object o ON o.type_id = t.id\n"
         "JOIN reference r ON r.source = o.address\n"
         "JOIN object p ON p.address = r.target JOIN type u ON u.id = p.type_id\n"
         "WHERE t.name = 'list' GROUP BY u.name ORDER BY 2 DESC LIMIT 10"},
        {"Which strings are there more than once, and what do the others cost?",
         "SELECT count(*), sum(o.memory) - max(o.memory) AS saves, min(s.value)\n"
         "FROM string s JOIN object o USING (address) WHERE s.hash IS NOT NULL\n"
         "GROUP BY o.type_id, s.hash HAVING count(*) > 1 ORDER BY 2 DESC LIMIT 10"},
        {"How is the garbage distributed?", "SELECT state, count(*), sum(memory) FROM object GROUP BY state"},
        {"What hangs below an object in the dominator tree, three levels deep?",
         "WITH RECURSIVE below(address, depth) AS (SELECT max(address), 0\n"
         "FROM root UNION ALL SELECT o.address, depth + 1 FROM below b\n"
         "JOIN object o ON o.dominator = b.address WHERE depth < 3)\n"
         "SELECT depth, count(*), sum(retained) FROM below\n"
         "JOIN object USING (address) GROUP BY depth"},
        {"Which arrays show a part of another one's data?",
         "SELECT address, shape, nbytes, owner FROM array WHERE NOT owns_data\n"
         "AND owner <> address ORDER BY nbytes DESC LIMIT 10"},
        {"Which attributes hold most?",
         "SELECT holder, attribute, count, size_text(retained) FROM holder\n"
         "ORDER BY retained DESC LIMIT 10"},
        {"Where does each thread stand?",
         "SELECT t.name, f.function, f.file, f.line FROM thread t\n"
         "JOIN frame f ON f.thread_id = t.id AND f.depth = 0"},
        {"Which locals of running calls retain most?",
         "SELECT r.name, o.address, o.value, size_text(o.retained) FROM root r\n"
         "JOIN object o USING (address) WHERE r.kind = 'frame'\n"
         "ORDER BY o.retained DESC LIMIT 10"},
        {"Which blocks of C code leaked, by class?",
         "SELECT class, count(*), sum(size) FROM native WHERE leaked\n"
         "GROUP BY class ORDER BY 3 DESC LIMIT 10"},
        {"What keeps some instances of a class alive?",
         "SELECT address, why(address) FROM object WHERE type_id =\n"
         "(SELECT id FROM type WHERE name = 'function') LIMIT 3"},
    };
    return examples;
}

std::string query_details() {
    std::string text = tables_of_query + 1;
    text += "  " + command_line("query - --format csv < question.sql") + "\n\nQuestions\n";
    for (const QueryExample& example : query_examples()) {
        text += "\n  " + std::string(example.question) + "\n    ";
        for (const char* at = example.sql; *at; ++at)
            text += *at == '\n' ? std::string("\n    ") : std::string(1, *at);
        text += "\n";
    }
    return text + end_of_query_help;
}

}  // namespace heapsift
