# Read by cpack before it packs: the time that every file of the package gets.
find_program(GIT git)
if(GIT AND NOT DEFINED ENV{SOURCE_DATE_EPOCH} AND EXISTS ${CPACK_PLUMBLINE_SOURCE}/.git)
  execute_process(COMMAND ${GIT} -C ${CPACK_PLUMBLINE_SOURCE} -c safe.directory=${CPACK_PLUMBLINE_SOURCE}
                          log -1 --format=%ct
                  OUTPUT_VARIABLE committed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(committed)
    set(ENV{SOURCE_DATE_EPOCH} ${committed})
  endif()
endif()
