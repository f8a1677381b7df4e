// SPDX-License-Identifier: Apache-2.0
// The structs of the C interface carry their size, so that a caller and a library of different versions can
// work together: fields are only ever added at the end of a struct.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include "guarded.h"

namespace plumbline::timing {

/// The size that the caller gave `value`. Throws Failure(PL_USAGE) for none, for one that this library does
/// not know, and for a null pointer; `name` is the struct's name in the message.
template <class Struct>
std::size_t size_of(const Struct* value, const char* name) {
  const auto refuse = [name](const std::string& what) { throw Failure(PL_USAGE, name + what); };
  if (value == nullptr) refuse(": the pointer is null");
  const std::size_t size = value->struct_size;
  if (size == 0) refuse(".struct_size is 0: set it to sizeof(" + std::string(name) + ")");
  if (size <= sizeof(std::size_t))
    refuse(".struct_size is " + std::to_string(size) + ": that holds no field behind it");
  if (size > sizeof(Struct))
    refuse(".struct_size is " + std::to_string(size) +
           ", and libplumbline_timing " PLUMBLINE_VERSION " knows " + std::to_string(sizeof(Struct)) +
           " bytes of it: load the library of the header's version");
  return size;
}

/// A struct that a caller fills in: the fields that its version has, and `rest` for the others.
template <class Struct>
Struct read_sized(const Struct* from, const char* name, Struct rest = {}) {
  const std::size_t size = size_of(from, name);
  std::memcpy(static_cast<void*>(&rest), from, size);
  rest.struct_size = sizeof(Struct);
  return rest;
}

/// Writes the first `size` bytes of `value`, a size that size_of() returned.
template <class Struct>
void write_sized(void* to, std::size_t size, Struct value) {
  value.struct_size = size;
  std::memcpy(to, &value, size);
}

/// The place of element `index` of an array of the caller, whose elements have `size` bytes.
template <class Struct>
void* element(Struct* array, std::size_t size, std::size_t index) {
  return reinterpret_cast<char*>(array) + index * size;
}
template <class Struct>
const void* element(const Struct* array, std::size_t size, std::size_t index) {
  return reinterpret_cast<const char*>(array) + index * size;
}

}  // namespace plumbline::timing
