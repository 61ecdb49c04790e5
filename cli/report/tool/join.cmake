# Joins the page's script (d3-hierarchy's licence, its file, our own) and hashes it and the style:
# cmake -DLICENCE=… -DLIBRARY=… -DSCRIPT=… -DSTYLE=… -DFOLDER=… -P join.cmake
# Writes FOLDER/script.js, script.hash and style.hash: the hashes of exactly what stands between the tags.
foreach(part LICENCE LIBRARY SCRIPT)
  file(READ "${${part}}" text)
  string(FIND "${text}" "</script" end)
  string(FIND "${text}" "<!--" comment)
  if(NOT end EQUAL -1 OR NOT comment EQUAL -1)
    message(FATAL_ERROR "${${part}}: this would end the page's script element")
  endif()
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -E cat "${LICENCE}" "${LIBRARY}" "${SCRIPT}" OUTPUT_FILE "${FOLDER}/script.js"
                COMMAND_ERROR_IS_FATAL ANY)
file(SHA256 "${FOLDER}/script.js" hash)
file(WRITE "${FOLDER}/script.hash" "${hash}")
file(SHA256 "${STYLE}" hash)
file(WRITE "${FOLDER}/style.hash" "${hash}")
