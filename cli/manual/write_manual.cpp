// What a build makes beside the program: man pages, and a list of commands from which cli/python makes its
// methods. A hidden command of heapsift itself (`heapsift __manual FOLDER`) writes them, and not a program of
// its own: that would be linked with all of heapsift a second time, only to call this.

#include "cli/manual/write_manual.h"

#include "cli/command_list.h"
#include "cli/command_texts.h"
#include "cli/json.h"
#include "cli/manual/manual_page.h"
#include "cli/version.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"

#include <filesystem>
#include <fstream>

namespace heapsift {
namespace {

void write_whole(const std::filesystem::path& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) throw cannot_analyse("cannot-write", path.string() + " cannot be written");
}

const char* kind_name(const CommandOptions::Option& option) {
    if (option.is_flag()) return "flag";
    switch (option.kind) {
        case ValueKind::any:
            return "any";
        case ValueKind::number:
            return "number";
        case ValueKind::choice:
            return "choice";
        case ValueKind::type:
            return "type";
        case ValueKind::core:
            return "core";
        case ValueKind::file:
            return "file";
        case ValueKind::directory:
            return "directory";
    }
    return "any";
}

Json option_json(const CommandOptions::Option& option) {
    return {{"name", option.long_names.front()},
            {"value", option.value_name},
            {"kind", kind_name(option)},
            {"words", option.words},
            {"several", option.several},
            {"description", option.description},
            {"common", option.common}};
}

Json command_json(const DeclaredCommand& declared) {
    const Command& command = declared.command;
    Json options = Json::array();
    for (const CommandOptions::Option& option : declared.options.all())
        options.push_back(option_json(option));
    return {{"name", command.words.name},
            {"usage", command.usage},
            {"summary", command.summary},
            {"description", text_of_command(command.words.name).description},
            {"table", command.is_table},
            {"own_format", command.own_format},
            {"core", command.words.takes_core},
            {"address", command.words.takes_address},
            {"addresses", command.words.takes_addresses},
            {"paths", command.words.takes_paths},
            {"sql", command.words.takes_sql},
            {"topics", command.words.takes_topics},
            {"options", options}};
}

}  // namespace

void write_manual(const std::string& folder) {
    settle_program_name(default_program_name);  // not as a build calls it
    CommonOptions common;
    const DeclaredCommands commands = declared_commands(common, all_commands());
    const std::filesystem::path pages = std::filesystem::path(folder) / "manual";
    std::error_code error;
    std::filesystem::create_directories(pages, error);
    write_whole(pages / "heapsift.1", manual_page(commands));
    Json list = Json::array();
    for (const auto& command : commands) {
        write_whole(pages / ("heapsift-" + command->command.words.name + ".1"), manual_page(*command));
        list.push_back(command_json(*command));
    }
    const Json all = {{"heapsift", version()}, {"date", version_date()}, {"commands", list}};
    write_whole(std::filesystem::path(folder) / "commands.json", all.dump(1) + "\n");
}

}  // namespace heapsift
