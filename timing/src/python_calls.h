// SPDX-License-Identifier: Apache-2.0
// The interpreter of the process that loaded this library: its own C functions (stable ABI of CPython 3.3 and
// newer), found at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plumbline/timing.h"

namespace plumbline::timing {

using Object = void*;

/// As CPython declares it (object.h); the same since 3.3.
struct PyBuffer {
  void* buf;
  Object obj;
  std::ptrdiff_t len;
  std::ptrdiff_t itemsize;
  int readonly;
  int ndim;
  char* format;
  std::ptrdiff_t* shape;
  std::ptrdiff_t* strides;
  std::ptrdiff_t* suboffsets;
  void* internal;
};

#define PLUMBLINE_PYTHON_FUNCTIONS(X)                                           \
  X(Object, call, "PyObject_CallObject", (Object, Object))                      \
  X(Object, call_args, "PyObject_CallFunctionObjArgs", (Object, ...))           \
  X(std::ptrdiff_t, list_size, "PyList_Size", (Object))                         \
  X(Object, list_item, "PyList_GetItem", (Object, std::ptrdiff_t))              \
  X(int, list_store, "PyList_SetItem", (Object, std::ptrdiff_t, Object))        \
  X(std::ptrdiff_t, tuple_size, "PyTuple_Size", (Object))                       \
  X(Object, tuple_item, "PyTuple_GetItem", (Object, std::ptrdiff_t))            \
  X(int, dict_next, "PyDict_Next", (Object, std::ptrdiff_t*, Object*, Object*)) \
  X(long long, as_longlong, "PyLong_AsLongLong", (Object))                      \
  X(unsigned long long, as_address, "PyLong_AsUnsignedLongLong", (Object))      \
  X(Object, error, "PyErr_Occurred", ())                                        \
  X(void, clear_error, "PyErr_Clear", ())                                       \
  X(int, get_buffer, "PyObject_GetBuffer", (Object, PyBuffer*, int))            \
  X(void, release_buffer, "PyBuffer_Release", (PyBuffer*))                      \
  X(void, keep, "Py_IncRef", (Object))                                          \
  X(void, drop, "Py_DecRef", (Object))

/// Every pointer is set.
struct Python {
#define X(result, name, symbol, parameters) result(*name) parameters = nullptr;
  PLUMBLINE_PYTHON_FUNCTIONS(X)
#undef X
  Object tuple_type = nullptr, list_type = nullptr, dict_type = nullptr;
  Object none = nullptr, yes = nullptr;
};

/// The interpreter. Throws Failure(PL_USAGE) where there is none in this process.
const Python& python();

/// The type of an object, as the object's own memory says.
inline Object type_of(Object object) { return static_cast<Object*>(object)[1]; }

/// One output as it was when the call returned it.
struct Captured {
  std::uint64_t address = 0;
  int item_bytes = 0;
  int dims = 0;
  std::int64_t shape[16] = {};
  std::int64_t strides[16] = {};  ///< elements
};

/// Looks at what a call returned, in place, by the interpreter's and the tensor library's own C functions:
/// nothing that a module of the student can replace is looked up.
class OutputReader {
 public:
  /// As pl_serve_library() says.
  void library(Object probes, Object containers);
  void outputs(std::vector<pl_output_spec> specs) { specs_ = std::move(specs); }
  const std::vector<pl_output_spec>& specs() const { return specs_; }

  /// Reads `result` of call `call`; what is wrong is appended to `problems`. Captured places match the specs,
  /// or none.
  std::vector<Captured> read(Object result, int call, std::vector<pl_problem>& problems) const;

 private:
  bool flatten(Object result, std::vector<Object>& values) const;
  int capture(Object value, const pl_output_spec& spec, Captured& out) const;
  int capture_array(Object value, const pl_output_spec& spec, Captured& out) const;
  int capture_tensor(Object value, const pl_output_spec& spec, Captured& out) const;

  Object type_ = nullptr;
  bool arrays_ = false;
  Object get_ = nullptr, data_ptr_ = nullptr, stride_ = nullptr, is_neg_ = nullptr, is_conj_ = nullptr,
         shape_ = nullptr, dtype_ = nullptr, is_cuda_ = nullptr, layout_ = nullptr, strided_ = nullptr;
  std::vector<Object> containers_;
  std::vector<pl_output_spec> specs_;
};

}  // namespace plumbline::timing
