// Takes a reference and never gives it back. Where an object's count is, or which of its two counts, is CPython's business.

void Py_IncRef(void* object);

void leak(void* object) { Py_IncRef(object); }
