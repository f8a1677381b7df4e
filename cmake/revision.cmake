# Writes OUTPUT, a source with the revision of SOURCE, where it differs from what is there.
find_program(GIT git)
set(revision)
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} -C ${SOURCE} -c safe.directory=${SOURCE} rev-parse --short=10 HEAD
                  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(revision)
  set(revision " (${revision})")
endif()
set(text "// Generated: the revision that --version shows; empty outside a checkout.
namespace plumbline::cli {
extern const char* const kRevision;
const char* const kRevision = \"${revision}\";
}  // namespace plumbline::cli
")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUTPUT} "${text}")
endif()
