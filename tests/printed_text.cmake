# No decision is taken on text that was made for people: what a name, a value or a remark is, a field says. No source of analysis or
# cli asks how a text begins or ends, what is in it, or whether it equals some words, but those below, each with its reason.
# Run by ctest: cmake -DSOURCE=folder -P printed_text.cmake
set(patterns "\\.(starts_with|ends_with)\\(" "\\.r?find\\([\"']"
    "(name|type|text|value|remark|expression|words?|label)\\)? *[!=]= *\"")
set(allowed
    # what a user typed
    cli/words cli/watch_conditions cli/arguments cli/address_argument cli/invocation cli/where cli/command_options cli/core_paths cli/commands/export cli/commands/capture
    cli/commands/dominators cli/commands/why cli/growth_limits cli/help cli/sort_option analysis/expression analysis/type_names
    cli/complete/candidates cli/complete/paths cli/complete/complete cli/program
    # names that SQLite gives to its own tables, and types as we declare them to it
    cli/database/sql_query
    # examples, whose first word is a command
    cli/manual/manual_page
    # layout and escaping: lines, blanks, addresses, paths within a message
    cli/manual/roff cli/text_width cli/redact cli/units cli/document/text
    # files, variables and output of the system and of heapsift itself
    cli/browse/terminal cli/complete/kept_type_names cli/core_in_use cli/machine cli/terminal cli/output_file cli/core_choice cli/render/batch
    cli/complete/processes cli/stored_core cli/batch_lines
    # keys of a document
    cli/render/arrays cli/render/export cli/query/row_tables
    # lines of a batch: their keys, paths, and signatures, whose first part is the program; and what kind of file has them
    cli/report/fleet cli/report/lines_source
    # names that Python gives: "<module>", "<lambda>", "MainThread", "__init__", the last word of a qualified name; "<stdin>-1", "tmp1a2b3c4d.py"
    analysis/path_expression analysis/suspects/pattern analysis/suspects/general_numbers analysis/suspects/callback_rules analysis/threads analysis/steps analysis/object_row analysis/holding/root_paths
    # names of modules and paths of files: whose code is what
    analysis/holding/groups analysis/refcounts analysis/suspects/signature analysis/program_facts analysis/suspects/code_that_names
    analysis/suspects/names_in_source analysis/suspects/names_of_class analysis/suspects/class_in_source analysis/suspects/foreign_functions
    # attributes, by the first step of each; types, by their package
    analysis/growth/matched_rows analysis/growth/places
    # names of functions of the interpreter and paths of modules: what a native call is
    analysis/native_calls
    # mangled names: of tables of virtual functions, of anything in C++
    analysis/native_classes
    # names of pandas' classes and attributes, and NumPy's notation of a dtype
    analysis/pandas_objects analysis/pandas_frames analysis/pandas_index
    # names of modules, attributes and variables of Python and of libraries: by these a cause is known
    analysis/suspects/cache_rules analysis/suspects/error_rules analysis/suspects/library_rules
    analysis/suspects/place_rules analysis/suspects/queue_rules
    analysis/suspects/scene analysis/joint_holders
    # a place in an array: its element without its field
    analysis/holder_labels
    # marks in files of heapsift's own
    cli/report/assets cli/report/page
    # names of modules and functions of asyncio: by these it is known what a call waits for
    analysis/awaits)
file(GLOB_RECURSE sources ${SOURCE}/analysis/*.cpp ${SOURCE}/analysis/*.h ${SOURCE}/cli/*.cpp ${SOURCE}/cli/*.h)
list(LENGTH sources count)
if(count LESS 200)
  message(FATAL_ERROR "only ${count} sources in ${SOURCE}")
endif()
set(found "")
set(found_in_allowed 0)
foreach(source ${sources})
  file(RELATIVE_PATH name ${SOURCE} ${source})
  set(is_allowed FALSE)
  foreach(prefix IN LISTS allowed)
    if(name MATCHES "^${prefix}(_[a-z]+)?\\.(cpp|h)$")
      set(is_allowed TRUE)
    endif()
  endforeach()
  foreach(pattern IN LISTS patterns)
    file(STRINGS ${source} lines REGEX "${pattern}")
    if(lines AND is_allowed)
      math(EXPR found_in_allowed "${found_in_allowed} + 1")
    elseif(lines)
      string(APPEND found "\n${name}: ${lines}")
    endif()
  endforeach()
endforeach()
if(found)
  message(FATAL_ERROR "decides on text that is made for people:${found}")
endif()
if(found_in_allowed LESS 20)
  message(FATAL_ERROR "what does this test look for?")
endif()
