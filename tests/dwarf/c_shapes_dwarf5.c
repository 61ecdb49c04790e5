/* The shapes of c_shapes.inc, described in DWARF 5 (tests/CMakeLists.txt sets the option). */

#define SHAPE(name) dwarf5_##name
#define OTHER_SHAPE(name) dwarf3_##name

#include "tests/dwarf/c_shapes.inc"
