#!/usr/bin/env python3
"""Makes parsers/cpython/build/instruction_tables.cpp: what each instruction of a version does.

    for python in python3.6 … python3.15; do $python instructions.py read > ops.$($python -c 'import sys; print(sys.version_info[1])'); done
    python3.11 instructions.py write ops.6 … ops.15 > ../build/instruction_tables.cpp

The numbers, caches and effects on the stack are what the interpreter's own `dis` and `opcode` say (Lib/dis.py, Lib/opcode.py,
Python/compile.c: stack_effect); what an instruction does is told by its name.
"""

import dis
import json
import opcode
import sys

# What instructions do, by their names; the place of a name in co_names is the argument shifted by as many bits.
DOES = {
    "LOAD_CONST": "load_constant", "LOAD_CONST_IMMORTAL": "load_constant", "LOAD_CONST_MORTAL": "load_constant",
    "LOAD_FAST": "load_local", "LOAD_FAST_CHECK": "load_local", "LOAD_FAST_BORROW": "load_local",
    "LOAD_FAST_LOAD_FAST": "load_two_locals", "LOAD_FAST_BORROW_LOAD_FAST_BORROW": "load_two_locals",
    "LOAD_FAST__LOAD_FAST": "load_local", "LOAD_CONST__LOAD_FAST": "load_constant", "LOAD_FAST__LOAD_CONST": "load_local",
    "STORE_FAST__LOAD_FAST": "store_local", "STORE_FAST__STORE_FAST": "store_local",
    "STORE_FAST": "store_local", "STORE_FAST_MAYBE_NULL": "store_local", "STORE_FAST_LOAD_FAST": "store_and_load_local",
    "STORE_FAST_STORE_FAST": "store_two_locals",
    "LOAD_DEREF": "load_cell", "STORE_DEREF": "store_cell", "LOAD_CLASSDEREF": "load_cell", "LOAD_FROM_DICT_OR_DEREF": "load_cell",
    "LOAD_NAME": "load_name", "LOAD_GLOBAL": "load_name", "STORE_GLOBAL": "store_name", "LOAD_FROM_DICT_OR_GLOBALS": "load_name",
    "LOAD_ATTR": "load_attribute", "LOAD_METHOD": "load_method", "LOAD_SUPER_ATTR": "load_super_attribute",
    "STORE_ATTR": "store_attribute",
    "STORE_SUBSCR": "store_item", "STORE_SLICE": "store_slice", "DELETE_SUBSCR": "delete_item",
    "BINARY_SUBSCR": "subscript", "BINARY_SLICE": "slice", "BINARY_OP": "binary",
    "LIST_APPEND": "add_to_display", "SET_ADD": "add_to_display", "MAP_ADD": "add_to_display", "LIST_EXTEND": "add_to_display",
    "CALL": "call", "CALL_FUNCTION": "call", "CALL_METHOD": "call", "CALL_FUNCTION_KW": "call_by_names", "CALL_KW": "call_by_names",
    "CALL_FUNCTION_EX": "call_by_tuple",
    "EXTENDED_ARG": "extended_argument", "EXTENDED_ARG_QUICK": "extended_argument",
    "JUMP_FORWARD": "jump", "JUMP_ABSOLUTE": "jump", "JUMP_BACKWARD": "jump", "JUMP_BACKWARD_NO_INTERRUPT": "jump",
    "CONTINUE_LOOP": "jump", "BREAK_LOOP": "jump", "RAISE_VARARGS": "jump", "RERAISE": "jump", "RETURN_VALUE": "give_back", "RETURN_CONST": "jump",
    "JUMP_IF_TRUE_OR_POP": "pop", "JUMP_IF_FALSE_OR_POP": "pop",
    "COPY": "copy", "SWAP": "swap", "DUP_TOP": "duplicate", "DUP_TOP_TWO": "duplicate_two", "ROT_TWO": "rotate_two",
    "ROT_THREE": "rotate_three", "ROT_FOUR": "rotate_four", "ROT_N": "rotate",
    "UNPACK_SEQUENCE": "unpack", "UNPACK_EX": "unpack", "DICT_UPDATE": "pop", "DICT_MERGE": "pop", "SET_UPDATE": "pop",
    "POP_TOP": "pop", "END_FOR": "pop", "POP_ITER": "pop", "STORE_NAME": "pop", "DELETE_ATTR": "pop", "PRINT_EXPR": "pop",
}
IN_PLACE = ("INPLACE_ADD", "INPLACE_MULTIPLY", "INPLACE_XOR", "INPLACE_OR")  # into what containers have them
DOES.update((name, "change_in_place") for name in IN_PLACE)

# Instead of the effect of an argument: one less if it is 3, if its third bit is set; one less for each bit; one more by the first
UNKNOWN, BY_LOW_BIT, BY_BITS, IF_3, BY_THIRD_BIT = 127, 126, 125, 124, 123


def effect(number, argument):
    return dis.stack_effect(number, argument) if number >= dis.HAVE_ARGUMENT else dis.stack_effect(number)


def effects(name, number):
    """Its effect on the stack: a, and b for each of its argument."""
    if name == "PRECALL":  # it takes nothing yet, which CALL does
        return 0, 0
    if name == "CALL" and sys.version_info[:2] == (3, 11):
        return -1, -1
    if name in ("NOP", "EXTENDED_ARG"):  # which up to 3.7 has no effect that can be asked for
        return 0, 0
    if name in ("JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP"):  # where it does not jump
        return -1, 0
    if name in ("SETUP_FINALLY", "SETUP_EXCEPT", "SETUP_LOOP", "SETUP_WITH"):
        return int(name == "SETUP_WITH"), 0
    if name in ("SWAP", "COPY", "ROT_N") or name.startswith("ROT_"):
        return (1 if name == "COPY" else 0), 0
    try:
        if number < dis.HAVE_ARGUMENT:
            return effect(number, 0), 0
        found = [effect(number, argument) for argument in range(8)]
    except ValueError:
        return 0, UNKNOWN
    steps = {b - a for a, b in zip(found, found[1:])}
    if len(steps) == 1 and -2 <= min(steps) <= 2:
        return found[0], steps.pop()
    if found == [found[0] + (argument & 1) for argument in range(8)]:
        return found[0], BY_LOW_BIT
    if found == [found[0] - (argument & 1) for argument in range(8)]:
        return found[0], -BY_LOW_BIT
    if found == [found[0] - bin(argument).count("1") for argument in range(8)]:
        return found[0], BY_BITS
    if found == [found[0] - (argument == 3) for argument in range(8)]:
        return found[0], IF_3
    if found == [found[0] - (argument >> 2) for argument in range(8)]:
        return found[0], BY_THIRD_BIT
    return found[0], UNKNOWN


def read():
    rows = []
    minor = sys.version_info[1]
    caches = {}
    for name, number in dis.opmap.items():
        if number > 255 or name == "CACHE":
            continue
        entries = getattr(opcode, "_inline_cache_entries", None)
        words = 0 if entries is None else entries.get(name, 0) if hasattr(entries, "get") else entries[number]
        caches[name] = words
        if name.startswith("INSTRUMENTED_"):  # it has the caches of what it stands for
            plain = name[len("INSTRUMENTED_"):]
            words = entries.get(plain, 0) if hasattr(entries, "get") else entries[dis.opmap.get(plain, number)]
            rows.append((number, name, "INSTRUMENTED", words, 0, 0))
            continue
        rows.append((number, name, name, words) + effects(name, number))
    base = {row[1]: row for row in rows}
    for name, number, family in specialized_numbers(minor):
        if family in base:
            rows.append((number, name, family, base[family][3]) + base[family][4:])
    json.dump({"minor": minor, "rows": sorted(rows)}, sys.stdout)


def specialized_numbers(minor):
    if minor < 11:
        return
    families = opcode._specializations if hasattr(opcode, "_specializations") else {}
    family_of = {name: family for family, names in families.items() for name in names}
    if hasattr(opcode, "_specialized_opmap"):
        for name, number in opcode._specialized_opmap.items():
            if name in family_of:
                yield name, number, family_of[name]
        return
    # 3.11, 3.12: numbers that are free, from 1 on, in the order of the list (Tools/build/generate_opcode_h.py)
    names = list(opcode._specialized_instructions)
    used = set(dis.opmap.values())
    number = 1
    for name in names:
        while number in used:
            number += 1
        yield name, number, family_of.get(name, name.split("__")[0])
        number += 1


def does(name, family, minor):
    if family.startswith("POP_JUMP_"):
        return "jump_if"
    if family == "INSTRUMENTED":
        return "instrumented"
    if family == "BINARY_OP" and name not in ("BINARY_OP", "BINARY_OP_ADAPTIVE"):  # of numbers and str, and since 3.14 a[b]
        return "subscript" if name.startswith("BINARY_OP_SUBSCR_") else "other"
    found = DOES.get(name) or DOES.get(family, "other")
    if found == "load_name" and family == "LOAD_GLOBAL" and minor >= 11 or found == "load_attribute" and minor >= 12:
        found += "_by_2"
    return found


def write(paths):
    read_in = []
    for path in paths:
        with open(path) as file:
            read_in.append(json.load(file))
    read_in.sort(key=lambda of: of["minor"])
    print(HEAD)
    for of in read_in:
        print("constexpr Operation of_%d[] = {" % of["minor"])
        line = "   "
        for number, name, family, caches, a, b in of["rows"]:
            row = [str(number), does(name, family, of["minor"]), str(caches), str(a), str(b)]
            while len(row) > 2 and row[-1] == "0":
                row.pop()
            if row[1:] == ["other"]:
                continue
            word = " {%s}," % ", ".join(row)
            if len(line) + len(word) > 110:
                print(line)
                line = "   "
            line += word
        print(line + "\n};")
    print("// clang-format on\n\n}  // namespace\n\nstd::span<const Operation> operations_of_minor(int minor) {\n    switch (minor) {")
    for of in read_in:
        print("        case %d:\n            return of_%d;" % (of["minor"], of["minor"]))
    print("        default:\n            return {};\n    }\n}\n\n}  // namespace heapsift")


HEAD = """// Made by parsers/cpython/tool/instructions.py from what CPython's `dis` says of itself.

#include "parsers/cpython/build/instruction_tables.h"

namespace heapsift {
namespace {

using enum Does;

// clang-format off"""


def main():
    if sys.argv[1:] == ["read"]:
        read()
    else:
        write(sys.argv[2:])


main()
