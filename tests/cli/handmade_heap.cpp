// The handmade heap of tests/analysis, for this program.
#include "tests/analysis/handmade_heap.cpp"
