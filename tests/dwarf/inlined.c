/* Functions that are inlined into each other, for source_lines_test.cpp, which knows these lines. */

volatile int inlined_sink;

static inline __attribute__((always_inline)) void innermost(int n) {
    inlined_sink = n; /* line 6 */
}

static inline __attribute__((always_inline)) void middle(int n) {
    innermost(n + 1); /* line 10 */
}

void outer_function(int n) {
    middle(n); /* line 14 */
    inlined_sink = 3;
}
