// The envelope. Answers and errors have the same one, so that scripts look in one place.

#include "cli/json_envelope.h"

#include "cli/console.h"
#include "cli/version.h"
#include "parsers/base/text.h"

namespace heapsift {
namespace {

// The module that holds the interpreter: libpython, or the program itself.
const Module* interpreter_module(const CoreFile& core, const PythonRuntime& python) {
    const auto& modules = core.modules();
    if (python.module >= 0 && static_cast<std::size_t>(python.module) < modules.size())
        return &modules[static_cast<std::size_t>(python.module)];
    for (const Module& module : modules)
        if (module.is_executable) return &module;
    return nullptr;
}

Json python_json(const CoreFile& core, const PythonRuntime& python, const Redactor& redactor) {
    const Module* module = interpreter_module(core, python);
    Json json;
    json["version"] = python.version.text();
    json["debug"] = python.debug;
    json["free_threaded"] = python.free_threaded;
    json["build_id"] = module && !module->build_id.empty() ? Json(module->build_id) : Json(nullptr);
    json["binary"] = module && module->file_state == ModuleFileState::found
                         ? Json(redactor.path(module->file))
                         : Json(nullptr);
    json["path_in_core"] = module ? Json(redactor.path(module->path)) : Json(nullptr);
    if (python.of > 1) {  // --interpreter
        json["interpreter"] = python.number;
        json["interpreters"] = python.of;
    }
    return json;
}

}  // namespace

Json core_json(const CoreChoice& choice, Redactor& redactor) {
    Json json;
    json["path"] = redactor.path(choice.path);
    json["chosen_by"] = name_of(choice.chosen_by);
    return json;
}

Json core_json(const CoreChoice& choice, const CoreFile& core, const PythonRuntime* python,
               Redactor& redactor) {
    const ProcessInfo& process = core.process();
    Json json = core_json(choice, redactor);
    json["pid"] = process.pid;
    json["signal"] = or_null(process.signal);
    json["command"] = redactor.active() || process.arguments.empty() ? process.name : process.arguments;
    json["machine"] = "x86_64";
    json["python"] = python ? python_json(core, *python, redactor) : Json(nullptr);
    return json;
}

Json envelope_json(const Envelope& envelope, const Redactor& redactor) {
    Json json;
    json["schema"] = "heapsift." + envelope.command + "/1";
    json["heapsift"] = version();
    json["complete"] = envelope.complete;
    json["certain"] = envelope.certain;
    json["warnings"] = Json::array();
    for (const Diagnostic& warning : envelope.warnings) {
        const std::string message = escape_for_terminal(redactor.message(message_of(warning)));
        json["warnings"].push_back({{"code", warning.code}, {"message", message}, {"count", warning.count}});
    }
    json["core"] = envelope.core;
    return json;
}

Json error_json(const Error& error, const Redactor& redactor) {
    Json json;
    json["code"] = error.code();
    json["message"] = escape_for_terminal(redactor.message(error.message()));
    json["hint"] =
        error.hint().empty() ? Json(nullptr) : Json(escape_for_terminal(redactor.message(error.hint())));
    return json;
}

}  // namespace heapsift
