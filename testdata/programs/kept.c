// Keeps objects where no Python code sees them: in static variables of a shared library. plants.py loads it with ctypes and counts the
// references itself, so that no header of CPython is needed and one library serves every version.

static void* volatile kept_alone;
static void* volatile kept_besides;

void keep_alone(void* object) { kept_alone = object; }
void keep_besides(void* object) { kept_besides = object; }
