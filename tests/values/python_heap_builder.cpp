// A test program consists of the .cpp files in its own folder, so this one includes the builder of the
// CPython tests.
#include "tests/cpython/python_heap_builder.cpp"  // NOLINT
