// Unicorn does not give back all that it takes (2.1.1: some hundred bytes an engine). That is not for these tests to
// tell: the sanitizer asks this function what to leave out.

extern "C" const char* __lsan_default_suppressions() { return "leak:libunicorn\n"; }  // NOLINT
