// Nothing but the headers that all test programs share is compiled for this file (CMakeLists.txt).
