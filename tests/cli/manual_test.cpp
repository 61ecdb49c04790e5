// Man pages: text is escaped whatever is in it, and each page says what --help says.

#include "cli/command_list.h"
#include "cli/command_texts.h"
#include "cli/help.h"
#include "cli/manual/manual_page.h"
#include "cli/manual/roff.h"
#include "tests/catch.h"

#include <sstream>

using namespace heapsift;

TEST_CASE("roff: nothing in a text is a request or an escape", "[cli][manual]") {
    CHECK(roff("a-b") == "a-b");
    CHECK(roff("--type", true) == "\\-\\-type");
    CHECK(roff(".TH x") == "\\&.TH x");
    CHECK(roff("'quoted'") == "\\&\\(aqquoted\\(aq");
    CHECK(roff("\\n`^~\"") == "\\(rsn\\(ga\\(ha\\(ti\\(dq");
    CHECK(roff("ü…") == "\\[u00FC]\\[u2026]");
    CHECK(roff("a\nb\x1b\xff") == "ab");
    CHECK(roff_bold("-n") == "\\fB\\-n\\fR");
}

TEST_CASE("roff: sentences begin lines, and lines are short", "[cli][manual]") {
    CHECK(roff_prose("One. Two\nthree. Four") == "One.\nTwo three.\nFour\n");
    CHECK(roff_prose("First.\n\nSecond.") == "First.\n.PP\nSecond.\n");
    std::string words;
    for (int i = 0; i < 100; ++i) words += "word ";
    std::istringstream lines(roff_prose(words));
    for (std::string line; std::getline(lines, line);) CHECK(line.size() < 80);
    // A word that begins so must not begin a line as it is.
    CHECK(roff_prose("One. .two") == "One.\n\\&.two\n");
}

TEST_CASE("roff: a layout for terminals becomes prose, lists and literal lines", "[cli][manual]") {
    CHECK(roff_layout("Prose of\ntwo lines.\n\n"
                      "  db     a file. It\n"
                      "         goes on\n"
                      "  jsonl  lines\n"
                      "\n  a command --x\n    below it\n") ==
          ".PP\nProse of two lines.\n"
          ".TP\n\\fBdb\\fR\na file.\nIt goes on\n.TP\n\\fBjsonl\\fR\nlines\n"
          ".PP\n.EX\na command \\-\\-x\n\\&  below it\n.EE\n");
    CHECK(roff_layout("").empty());
}

TEST_CASE("manual: a page has all sections, every option, and each example", "[cli][manual]") {
    CommonOptions common;
    const DeclaredCommands commands = declared_commands(common, all_commands());
    const std::string whole = manual_page(commands);
    for (const auto& one : commands) {
        const Command& command = one->command;
        INFO(command.words.name);
        CHECK_THAT(whole, ContainsSubstring(roff_bold(command.words.name) + " "));
        const std::string page = manual_page(*one);
        std::size_t at = 0;
        for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS",
                                    "ENVIRONMENT", "FILES", "SEE ALSO"}) {
            INFO(section);
            const std::size_t found = page.find(".SH " + std::string(section) + "\n", at);
            REQUIRE(found != std::string::npos);
            at = found;
        }
        for (const CommandOptions::Option& option : one->options.all()) {
            const std::string& where = option.common ? whole : page;
            CHECK_THAT(where, ContainsSubstring(roff_bold("--" + option.long_names.front())));
            CHECK_THAT(where, ContainsSubstring(roff_prose(option.description)));
        }
        const CommandText& text = text_of_command(command.words.name);
        CHECK_FALSE(text.description.empty());
        CHECK(text.examples.size() >= 1);
        for (const Example& example : text.examples)
            CHECK_THAT(page, ContainsSubstring(roff_bold("heapsift " + example.command)));
        // What help prints of it is the same.
        CHECK_THAT(command_help(command, one->options), ContainsSubstring(text.examples.front().remark));
        CHECK_THAT(page, !ContainsSubstring("\n\n"));
    }
}

TEST_CASE("manual: every text is of a command that there is", "[cli][manual]") {
    for (const Command& command : all_commands())
        for (const Example& example : text_of_command(command.words.name).examples)
            CHECK(example.command.substr(0, 9) != "heapsift ");
    CHECK(text_of_command("nothing").description.empty());
    CHECK_THAT(help_topic("environment"), ContainsSubstring("HEAPSIFT_CORE"));
    for (const Term& code : exit_codes())
        CHECK_THAT(help_topic("environment"), ContainsSubstring(code.meaning.substr(0, 20)));
}
