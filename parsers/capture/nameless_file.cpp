// O_TMPFILE is not in every file system (NFS); there the name is taken away at once.

#include "parsers/capture/nameless_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace heapsift {

Descriptor nameless_file_in(const std::string& folder) {
    if (folder.empty()) return Descriptor(::memfd_create("heapsift", MFD_CLOEXEC));
    Descriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file.is_open()) return file;
    std::string name = folder + "/.heapsift.XXXXXX";
    file = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (file.is_open()) ::unlink(name.c_str());
    return file;
}

}  // namespace heapsift
