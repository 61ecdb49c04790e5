// Takes a reference and never gives it back. The count is the first word of an object in every version, so no header of CPython is
// needed.

void leak(long* object) { ++*object; }
