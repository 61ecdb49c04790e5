// What an export of handmade results writes: tables and lines are read back, and the file is whole or absent.

#include "cli/render/export.h"

#include "cli/json_envelope.h"
#include "cli/output_file.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"

#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace heapsift;
using namespace heapsift::test;

namespace {

ExportedType node_type() {
    ExportedType row;
    row.id = TypeId(7);
    row.name = "app.\x1b[2JNode";
    row.address = Address(0x900);
    row.basicsize = 48;
    row.base = TypeId(1);
    return row;
}

ExportedObject secret() {
    ExportedObject object;
    object.row.address = Address(0xffffffffff600000);
    object.row.type = "str";
    object.row.facts = facts(56, 64, 0, 2);
    object.row.facts.block_size = 64;
    object.row.facts.gc_tracked = true;
    object.row.value = literal("'hunter2'", 7);
    object.type = TypeId(7);
    object.generation = 3;
    return object;
}

ArrayRow view() {
    ArrayRow row;
    row.address = Address(0x10100);
    row.dtype = "<f8";
    row.shape = {3, 4};
    row.strides = {-32, 8};
    row.nbytes = 96;
    row.data = Address(0x20000);
    row.owns_data = false;
    row.base = row.owner = Address(0x10200);
    return row;
}

/// An attribute that is followed, a key with a secret, and a word of C code that is not followed.
std::vector<ExportedReference> exported_references() {
    static const std::vector<Reference> references = [] {
        Reference native = reference(0x10300, "<module data>", ReferenceKind::native);
        native.word = Address(0xffffffffff601000);
        return std::vector{reference(0x10200, ".name"),
                           key(0x10300, literal("'hunter2'", 7), ReferenceKind::hidden), native};
    }();
    return {{Address(0x10100), references[0], true},
            {Address(0x10100), references[1], true},
            {references[2].word, references[2], false}};
}

struct Query {
    explicit Query(const std::string& path) {
        REQUIRE(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
    }
    ~Query() { sqlite3_close(database); }
    /// The cells of all rows, joined by "|"; NULL is "-".
    std::string operator()(const std::string& sql) const {
        sqlite3_stmt* statement = nullptr;
        REQUIRE(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
        std::string cells;
        while (sqlite3_step(statement) == SQLITE_ROW)
            for (int i = 0; i < sqlite3_column_count(statement); ++i) {
                const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
                cells += (cells.empty() ? "" : "|") + std::string(text ? text : "-");
            }
        sqlite3_finalize(statement);
        return cells;
    }
    sqlite3* database = nullptr;
};

const Json meta = {{"schema", "heapsift.export/1"},
                   {"complete", false},
                   {"pid", 42},
                   {"signal", nullptr},
                   {"not_computed", {"root"}}};

std::string written_database(const TemporaryDirectory& directory, bool redact) {
    const std::string path = directory.path() + "/heap.db";
    OutputFile file(path, {.seekable = true});
    Database database(file.temporary_path(), file.name());
    Redactor redactor(redact);
    {
        DatabaseExport sink(database, redactor);
        sink.meta(meta);
        sink.type(node_type());
        sink.object(secret());
        sink.array(view());
        ArrayRow torn;
        torn.address = Address(0x10900);
        sink.array(torn);
        for (const ExportedReference& row : exported_references()) sink.reference(row);
    }
    database.commit();
    CHECK_FALSE(std::filesystem::exists(path));
    file.commit();
    return path;
}

std::vector<std::string> written_lines(bool redact) {
    Redactor redactor(redact);
    std::vector<std::string> lines;
    LinesExport sink([&](std::string_view text) { lines.emplace_back(text); }, redactor);
    sink.meta(meta);
    sink.type(node_type());
    sink.object(secret());
    sink.array(view());
    for (const ExportedReference& row : exported_references()) sink.reference(row);
    return lines;
}

std::string error_code(const std::string& path, const OutputFile::Rules& rules) {
    try {
        const OutputFile file(path, rules);
    } catch (const Error& error) {
        CHECK(error.exit() == ExitCode::wrong_usage);
        return error.code();
    }
    return "none";
}

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t files_in(const TemporaryDirectory& directory) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory.path()), {}));
}

}  // namespace

TEST_CASE("export, SQLite: the tables of the contract", "[cli][export]") {
    const TemporaryDirectory directory;
    const Query query(written_database(directory, false));
    CHECK(query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") ==
          "array|meta|object|reference|root|type");
    CHECK(query("SELECT key, value, typeof(value) FROM meta ORDER BY key") ==
          "complete|0|integer|not_computed|[\"root\"]|text|pid|42|integer|schema|heapsift.export/"
          "1|text|signal|-|null");
    CHECK(query("SELECT * FROM type") == "7|app.\\x1b[2JNode|2304|48|0|1");
    CHECK(query("SELECT printf('0x%x', address), type_id, size, memory, block_size, refcount, gc_tracked, "
                "generation FROM object") == "0xffffffffff600000|7|56|64|64|2|1|3");
    CHECK(query("SELECT state, retained, dominator, value FROM object") == "-|-|-|'hunter2'");
    CHECK(query("SELECT * FROM array") ==
          "65792|<f8|[3,4]|[-32,8]|96|131072|0|66048|66048|67840|-|-|-|-|-|-|-|-");
    CHECK(query("SELECT count(*) FROM root") == "0");
    CHECK(query("SELECT printf('0x%x', source), printf('0x%x', target), name, kind, followed FROM reference "
                "ORDER BY rowid") ==
          "0x10100|0x10200|.name|strong|1|0x10100|0x10300|key "
          "'hunter2'|hidden|1|0xffffffffff601000|0x10300|<module "
          "data>|native|0");
    CHECK(query("SELECT address, kind, name FROM root").empty());
    CHECK(query("PRAGMA integrity_check") == "ok");
}

TEST_CASE("export, SQLite: --redact replaces values", "[cli][export][redact]") {
    const TemporaryDirectory directory;
    const std::string path = written_database(directory, true);
    CHECK(Query(path)("SELECT value FROM object") == "‹str 7 #1›");
    CHECK(text_of(path).find("hunter2") == std::string::npos);
}

TEST_CASE("export, lines: each says its table; objects are those of heapsift objects", "[cli][export]") {
    const auto lines = written_lines(false);
    REQUIRE(lines.size() == 7);
    CHECK(lines[0] ==
          "{\"table\":\"meta\",\"schema\":\"heapsift.export/"
          "1\",\"complete\":false,\"pid\":42,\"signal\":null,\"not_computed\":[\"root\"]}\n");
    CHECK(
        lines[1] ==
        "{\"table\":\"type\",\"id\":7,\"name\":\"app.\\u001b[2JNode\",\"address\":\"0x900\",\"basicsize\":48,"
        "\"itemsize\":0,\"base_id\":1}\n");
    const Json object = Json::parse(lines[2]);
    CHECK(object["table"] == "object");
    CHECK(object["address"] == "0xffffffffff600000");
    CHECK(object["type"] == "str");
    CHECK(object["memory"] == 64);
    CHECK(object["retained"].is_null());
    CHECK(object["value"] == "'hunter2'");
    CHECK(object["type_id"] == 7);
    CHECK(object["block_size"] == 64);
    CHECK(object["generation"] == 3);
    CHECK(
        lines[3] ==
        "{\"table\":\"array\",\"address\":\"0x10100\",\"dtype\":\"<f8\",\"shape\":[3,4],\"strides\":[-32,8],"
        "\"nbytes\":96,\"data\":\"0x20000\",\"owns_data\":false,\"base\":\"0x10200\",\"owner\":\"0x10200\"}"
        "\n");
    CHECK(lines[4] ==
          "{\"table\":\"reference\",\"source\":\"0x10100\",\"target\":\"0x10200\",\"name\":\".name\","
          "\"kind\":\"strong\","
          "\"followed\":true}\n");
    CHECK(Json::parse(lines[6])["source"] == "0xffffffffff601000");
    CHECK(Json::parse(lines[6])["followed"] == false);
    const auto redacted = written_lines(true);
    CHECK(Json::parse(redacted[2])["value"] == "‹str 7 #1›");
    for (const std::string& line : redacted) CHECK(line.find("hunter2") == std::string::npos);
}

TEST_CASE("export: meta says what the envelope says, flat, and what was not computed", "[cli][export]") {
    HandmadeHeap made;
    made.objects = {{Address(0x10100), "dict", facts(64, 64), {}, {}}};
    const HandmadeReader heap = made.build();
    const HeapGraph graph(heap);
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    const Redactor redactor;
    Envelope envelope;
    envelope.command = "export";
    envelope.core = {
        {"path", "core.1"}, {"chosen_by", "argument"}, {"pid", 5}, {"python", {{"version", "3.11.2"}}}};
    envelope.complete = false;
    const Json json = export_meta(envelope_json(envelope, redactor), heap.snapshot().types.size(),
                                  heap.snapshot().object_count(), true);
    CHECK(json["schema"] == "heapsift.export/1");
    CHECK(json["complete"] == false);
    CHECK(json["core"] == "core.1");
    CHECK(json["pid"] == 5);
    CHECK(json["python"] == "3.11.2");
    CHECK(json["objects"] == 1);
    CHECK(json["redacted"] == true);
    CHECK(json["not_computed"].empty());
}

TEST_CASE("output file: beside its place until it is whole, and readable by its owner alone",
          "[cli][output]") {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/out";
    {
        OutputFile file(path, {});
        file.write("half");
        CHECK_FALSE(std::filesystem::exists(path));
        CHECK(files_in(directory) == 1);
    }
    CHECK(files_in(directory) == 0);
    OutputFile file(path, {});
    file.write("whole");
    file.commit();
    CHECK(text_of(path) == "whole");
    CHECK(files_in(directory) == 1);
    CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::mask) ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

TEST_CASE("output file: without a name until it is whole", "[cli][output]") {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/out";
    const OutputFile::Rules nameless{.seekable = true, .nameless = true};
    {
        OutputFile file(path, nameless);
        if (!file.temporary_path().empty()) return;  // this file system has no files without a name
        REQUIRE(::pwrite(file.descriptor(), "half", 4, 0) == 4);
        CHECK(files_in(directory) == 0);
    }
    CHECK(files_in(directory) == 0);
    {
        OutputFile file(path, nameless);
        REQUIRE(::pwrite(file.descriptor(), "whole", 5, 0) == 5);
        file.commit();
    }
    CHECK(text_of(path) == "whole");
    CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::mask) ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
    CHECK(error_code(path, nameless) == "output-exists");
    {
        OutputFile file(path, {.overwrite = true, .seekable = true, .nameless = true});
        file.write("newer");
        CHECK(text_of(path) == "whole");
        file.commit();
    }
    CHECK(text_of(path) == "newer");
    CHECK(files_in(directory) == 1);
    // A name that is taken meanwhile.
    const std::string other = directory.path() + "/other";
    {
        OutputFile file(other, nameless);
        directory.write("other", "theirs");
        CHECK_THROWS_AS(file.commit(), Error);
    }
    CHECK(text_of(other) == "theirs");
    CHECK(files_in(directory) == 2);
    CHECK(error_code(directory.path() + "/no/folder", nameless) == "cannot-create");
}

TEST_CASE("output file: an interruption leaves nothing", "[cli][output]") {
    const TemporaryDirectory directory;
    OutputFile file(directory.path() + "/out", {});
    remove_unfinished_files();
    CHECK(files_in(directory) == 0);
}

TEST_CASE("output file: nothing is overwritten unasked, the core never", "[cli][output]") {
    const TemporaryDirectory directory;
    const std::string core = directory.write("core", "core"), there = directory.write("there", "old");
    const std::string link = directory.path() + "/link", hard = directory.path() + "/hard",
                      nowhere = directory.path() + "/nowhere";
    std::filesystem::create_symlink(core, link);
    std::filesystem::create_hard_link(core, hard);
    std::filesystem::create_symlink("/nonexistent/x", nowhere);
    CHECK(error_code(there, {}) == "output-exists");
    CHECK(error_code(nowhere, {}) == "output-exists");
    for (const std::string& path : {core, link, hard})
        CHECK(error_code(path, {.overwrite = true, .protected_path = core}) == "output-is-core");
    CHECK(error_code(directory.path(), {.overwrite = true}) == "is-a-directory");
    CHECK(error_code(directory.path() + "/no/folder", {}) == "cannot-create");
    CHECK(error_code("/dev/null", {.overwrite = true, .seekable = true}) == "not-a-file");
    const std::string pipe = directory.path() + "/pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    for (const std::string hint : {"", "-o - > pipe"}) {
        try {
            OutputFile(pipe, {.seekable = true, .for_a_pipe = hint});
            FAIL("it was opened");
        } catch (const Error& error) {
            CHECK(error.code() == "not-a-file");
            CHECK(error.hint() == (hint.empty() ? "name a file" : hint));
        }
    }
    {
        OutputFile unfinished(there, {.overwrite = true});
        unfinished.write("new");
    }
    CHECK(text_of(there) == "old");
    OutputFile file(there, {.overwrite = true});
    file.write("new");
    file.commit();
    CHECK(text_of(there) == "new");
    CHECK(text_of(core) == "core");
}

TEST_CASE("output file: a name that was taken meanwhile stays as it is", "[cli][output]") {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/out";
    {
        OutputFile file(path, {});
        file.write("ours");
        directory.write("out", "theirs");
        CHECK_THROWS_AS(file.commit(), Error);
    }
    CHECK(text_of(path) == "theirs");
    CHECK(files_in(directory) == 1);
}

TEST_CASE("output file: a device is written to as it is", "[cli][output]") {
    OutputFile file("/dev/null", {});
    file.write("bytes");
    file.commit();
    CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("output: a full disk is one line, and nothing is left", "[cli][export][output]") {
    const TemporaryDirectory directory;
    struct Limit {
        Limit() {
            ::signal(SIGXFSZ, SIG_IGN);
            ::getrlimit(RLIMIT_FSIZE, &before);
            rlimit small = before;
            small.rlim_cur = 100000;
            ::setrlimit(RLIMIT_FSIZE, &small);
        }
        ~Limit() { ::setrlimit(RLIMIT_FSIZE, &before); }
        rlimit before{};
    } limit;
    const auto code_of = [&](const std::string& name, const auto& fill) {
        try {
            OutputFile file(directory.path() + "/" + name, {});
            fill(file);
            file.commit();
        } catch (const Error& error) {
            CHECK(error.exit() == ExitCode::cannot_analyse);
            CHECK_THAT(error.message(), ContainsSubstring(name + ": cannot be written: file too large"));
            return error.code();
        }
        return std::string("none");
    };
    CHECK(code_of("lines", [](OutputFile& file) { file.write(std::string(200000, 'x')); }) == "cannot-write");
    CHECK(code_of("tables", [](OutputFile& file) {
              Database database(file.temporary_path(), file.name());
              Redactor redactor;
              {
                  DatabaseExport sink(database, redactor);
                  ExportedObject object = secret();
                  object.row.value = literal(std::string(60, 'x'), 60);
                  for (std::uint64_t i = 1; i < 10000; ++i) {
                      object.row.address = Address(i);
                      sink.object(object);
                  }
              }
              database.commit();
          }) == "cannot-write");
    CHECK(files_in(directory) == 0);
}
