// The heap made by hand of tests/analysis, in this program too.
#include "tests/analysis/handmade_heap.cpp"
