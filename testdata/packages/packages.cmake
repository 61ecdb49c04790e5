# What cpack makes of the static executable: a .deb that needs no other package, and a tarball with the same tree. Both have the
# executable, its manual pages and completions where the build has made them, and whose work is in it.
# testdata/package.sh makes all of it by one command; documents.py writes what a package says of itself.

set(HEAPSIFT_MAINTAINER "heapsift's maintainers <maintainers@heapsift.invalid>" CACHE STRING "Whom a package names")
find_program(HEAPSIFT_PYTHON3 python3)
find_program(HEAPSIFT_DPKG dpkg)
if(HEAPSIFT_PYTHON3 AND HEAPSIFT_DPKG)
  set(documents ${CMAKE_BINARY_DIR}/documents)
  add_custom_command(OUTPUT ${documents}/copyright ${documents}/changelog.gz
    DEPENDS heapsift ${CMAKE_SOURCE_DIR}/testdata/packages/documents.py
    COMMAND ${CMAKE_COMMAND} -E env HEAPSIFT_VERSION=${PROJECT_VERSION} "HEAPSIFT_MAINTAINER=${HEAPSIFT_MAINTAINER}"
      ${HEAPSIFT_PYTHON3} ${CMAKE_SOURCE_DIR}/testdata/packages/documents.py ${CMAKE_BINARY_DIR}
    VERBATIM)
  add_custom_target(package_documents ALL DEPENDS ${documents}/copyright ${documents}/changelog.gz)
  install(FILES ${documents}/copyright ${documents}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/heapsift)
  install(DIRECTORY ${documents}/licenses DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/heapsift)
endif()
install(FILES ${CMAKE_SOURCE_DIR}/testdata/packages/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME heapsift)

set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_NAME heapsift)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_FILE_NAME heapsift-${PROJECT_VERSION}-linux-x86_64)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_SOURCE_DIR}/build/packages)
set(CPACK_PACKAGE_CONTACT "${HEAPSIFT_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "shows what fills the memory of a Python process, from its core")
set(CPACK_PACKAGE_DESCRIPTION "\
heapsift lists every object of a CPython process (2.7 and 3.6 to 3.15), from a
core dump of it: what fills the memory, what keeps each object alive, what grew
between two cores, what is garbage and why, whose the memory of C code is.
Nothing has to be installed in the process or switched on beforehand.
This executable has its libraries inside and needs no other package.")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)  # which dpkg of Debian 11 reads
include(CPack)
