# Build rules shared by every folder.

add_library(plumbline_warnings INTERFACE)
target_compile_options(plumbline_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${PLUMBLINE_WERROR}>:-Werror>)

# The same doubles from every compiler: no fused multiply-add, no machine-specific instructions.
add_compile_options(-ffp-contract=off)
if(PLUMBLINE_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(PLUMBLINE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Sources of a stage, relative to its folder.
function(plumbline_sources)
  target_sources(plumbline PRIVATE ${ARGN})
endfunction()

# Headers that are installed; each is also compiled alone when all_verify_interface_header_sets is built.
function(plumbline_public_headers)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(plumbline PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${ARGN})
endfunction()

# plumbline_unit_test(NAME a_test.cpp ...): one GoogleTest executable, registered as unit.NAME.
function(plumbline_unit_test name)
  add_executable(${name}_test ${ARGN})
  target_link_libraries(${name}_test PRIVATE plumbline::plumbline plumbline_warnings plumbline_fmt GTest::gmock
                                             GTest::gtest_main)
  target_compile_definitions(${name}_test PRIVATE PLUMBLINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME unit.${name} COMMAND ${name}_test)
  set_tests_properties(unit.${name} PROPERTIES LABELS unit)
endfunction()

# plumbline_fuzzer(NAME fuzz.cpp): a libFuzzer target named fuzz_NAME.
function(plumbline_fuzzer name)
  if(PLUMBLINE_FUZZ)
    add_executable(fuzz_${name} ${ARGN})
    target_link_libraries(fuzz_${name} PRIVATE plumbline::plumbline plumbline_warnings plumbline_fmt)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endif()
endfunction()

# plumbline_benchmark(NAME bench.cpp): a Google Benchmark executable named bench_NAME.
function(plumbline_benchmark name)
  add_executable(bench_${name} ${ARGN})
  target_link_libraries(bench_${name} PRIVATE plumbline::plumbline plumbline_warnings plumbline_fmt
                                              benchmark::benchmark)
  target_compile_definitions(bench_${name} PRIVATE PLUMBLINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endfunction()

# Sources that include RapidJSON 1.1.0: its empty stack adds an offset to a null pointer, in its own headers.
function(plumbline_uses_rapidjson)
  if(PLUMBLINE_SANITIZE)
    set_source_files_properties(${ARGN} TARGET_DIRECTORY plumbline PROPERTIES COMPILE_OPTIONS
                                -fno-sanitize=pointer-overflow)
  endif()
endfunction()
