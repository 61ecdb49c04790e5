#pragma once

// A file for what has to be put by.

#include "parsers/base/descriptor.h"

#include <string>

namespace heapsift {

/// An empty file without a name, which is gone when it is closed, however. It lies in `folder`; in memory if that is empty.
/// Not open, with errno set, if there can be none.
Descriptor nameless_file_in(const std::string& folder);

}  // namespace heapsift
