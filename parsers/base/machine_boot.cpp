#include "parsers/base/machine_boot.h"

#include <fstream>

namespace heapsift {

std::string machine_boot() {
    std::string name;
    std::ifstream at("/proc/sys/kernel/random/boot_id");
    std::getline(at, name);
    return name;
}

}  // namespace heapsift
