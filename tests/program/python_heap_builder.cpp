// Each test program is the .cpp files of its own folder: the builder of the CPython tests, for these.
#include "tests/cpython/python_heap_builder.cpp"  // NOLINT
