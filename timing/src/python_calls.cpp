// SPDX-License-Identifier: Apache-2.0
#include "python_calls.h"

#include <dlfcn.h>

#include <algorithm>

#include "device.h"
#include "guarded.h"

namespace plumbline::timing {
namespace {

template <class Function>
void find(Function& target, const char* symbol) {
  target = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, symbol));
  if (target == nullptr)
    throw Failure(PL_USAGE, std::string("no Python interpreter in this process: it lacks ") + symbol);
}

Python load_python() {
  Python found;
#define X(result, name, symbol, parameters) find(found.name, symbol);
  PLUMBLINE_PYTHON_FUNCTIONS(X)
#undef X
  find(found.tuple_type, "PyTuple_Type");
  find(found.list_type, "PyList_Type");
  find(found.dict_type, "PyDict_Type");
  find(found.none, "_Py_NoneStruct");
  find(found.yes, "_Py_TrueStruct");
  return found;
}

/// A reference that is given back.
class Held {
 public:
  explicit Held(Object object) : object_(object) {}
  ~Held() {
    if (object_ != nullptr) python().drop(object_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  Object get() const { return object_; }

 private:
  Object object_;
};

constexpr int kStridedBuffer = 0x0010 | 0x0008 | 0x0004;  // PyBUF_STRIDES with the format

}  // namespace

const Python& python() {
  static const Python found = load_python();
  return found;
}

void OutputReader::library(Object probes, Object containers) {
  const Python& py = python();
  py.keep(probes);  // for as long as the process lives
  py.keep(containers);
  const auto at = [&](std::ptrdiff_t i) { return py.tuple_item(probes, i); };
  type_ = at(0);
  arrays_ = py.tuple_size(probes) == 1;
  if (!arrays_) {
    Object* const places[] = {&get_,   &data_ptr_, &stride_,  &is_neg_, &is_conj_,
                              &shape_, &dtype_,    &is_cuda_, &layout_, &strided_};
    for (std::ptrdiff_t i = 0; i < 10; ++i) *places[i] = at(i + 1);
  }
  containers_.clear();
  for (std::ptrdiff_t i = 0; i < py.tuple_size(containers); ++i)
    containers_.push_back(py.tuple_item(containers, i));
}

bool OutputReader::flatten(Object result, std::vector<Object>& values) const {
  const Python& py = python();
  const Object type = type_of(result);
  if (result == py.none) return true;
  if (type == type_) {
    values.push_back(result);
    return true;
  }
  if (type == py.dict_type) {
    std::ptrdiff_t place = 0;
    Object key = nullptr, value = nullptr;
    while (py.dict_next(result, &place, &key, &value) != 0) values.push_back(value);
    return true;
  }
  const bool list = type == py.list_type;
  if (!list && type != py.tuple_type &&
      std::find(containers_.begin(), containers_.end(), type) == containers_.end()) {
    return false;
  }
  const std::ptrdiff_t size = list ? py.list_size(result) : py.tuple_size(result);
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    const Object value = list ? py.list_item(result, i) : py.tuple_item(result, i);
    if (value != py.none) values.push_back(value);
  }
  return true;
}

int OutputReader::capture_array(Object value, const pl_output_spec& spec, Captured& out) const {
  PyBuffer view{};
  if (python().get_buffer(value, &view, kStridedBuffer) != 0) {
    python().clear_error();
    return PL_OUTPUT_TYPE;
  }
  out.address = reinterpret_cast<std::uint64_t>(view.buf);
  out.item_bytes = static_cast<int>(view.itemsize);
  out.dims = view.ndim;
  int problem = 0;
  if (view.ndim > 16 || view.format == nullptr) {
    problem = PL_OUTPUT_TYPE;
  } else {
    for (int i = 0; i < view.ndim; ++i) {
      out.shape[i] = view.shape[i];
      out.strides[i] = view.strides[i] / std::max<std::ptrdiff_t>(view.itemsize, 1);
    }
    // The fake has no dtype objects: the format's letter stands in `dtype`.
    if (reinterpret_cast<std::uintptr_t>(spec.dtype) != static_cast<unsigned char>(view.format[0]))
      problem = PL_OUTPUT_DTYPE;
  }
  python().release_buffer(&view);
  return problem;
}

int OutputReader::capture_tensor(Object value, const pl_output_spec& spec, Captured& out) const {
  const Python& py = python();
  const auto property = [&](Object descriptor) {
    return py.call_args(get_, descriptor, value, type_, nullptr);
  };
  const auto method = [&](Object descriptor) { return py.call_args(descriptor, value, nullptr); };
  const Held on_gpu(property(is_cuda_));
  if (on_gpu.get() != py.yes) return PL_OUTPUT_DEVICE;
  const Held layout(property(layout_));
  if (layout.get() != strided_) return PL_OUTPUT_LAZY;
  const Held dtype(property(dtype_));
  if (dtype.get() != spec.dtype) return PL_OUTPUT_DTYPE;
  const Held negative(method(is_neg_)), conjugate(method(is_conj_));
  if (negative.get() == py.yes || conjugate.get() == py.yes) return PL_OUTPUT_LAZY;
  const Held shape(property(shape_)), strides(method(stride_)), address(method(data_ptr_));
  if (shape.get() == nullptr || strides.get() == nullptr || address.get() == nullptr) return PL_OUTPUT_TYPE;
  const std::ptrdiff_t dims = py.tuple_size(shape.get());
  if (dims < 0 || dims > 16 || py.tuple_size(strides.get()) != dims) return PL_OUTPUT_TYPE;
  out.dims = static_cast<int>(dims);
  for (std::ptrdiff_t i = 0; i < dims; ++i) {
    out.shape[i] = py.as_longlong(py.tuple_item(shape.get(), i));
    out.strides[i] = py.as_longlong(py.tuple_item(strides.get(), i));
  }
  out.item_bytes = spec.item_bytes;
  out.address = py.as_address(address.get());
  return 0;
}

int OutputReader::capture(Object value, const pl_output_spec& spec, Captured& out) const {
  if (type_of(value) != type_) return PL_OUTPUT_TYPE;
  const int problem = arrays_ ? capture_array(value, spec, out) : capture_tensor(value, spec, out);
  if (python().error() != nullptr) {
    python().clear_error();
    return PL_OUTPUT_TYPE;
  }
  if (problem != 0) return problem;
  if (out.dims != spec.dims || !std::equal(out.shape, out.shape + out.dims, spec.shape))
    return PL_OUTPUT_SHAPE;
  const bool empty = std::find(out.shape, out.shape + out.dims, 0) != out.shape + out.dims;
  return out.address == 0 && !empty ? PL_OUTPUT_TYPE : 0;
}

std::vector<Captured> OutputReader::read(Object result, int call, std::vector<pl_problem>& problems) const {
  std::vector<Object> values;
  if (!flatten(result, values)) {
    problems.push_back({PL_OUTPUT_TYPE, call, -1, 0});
    return {};
  }
  if (values.size() != specs_.size()) {
    problems.push_back({PL_OUTPUT_COUNT, call, -1, static_cast<std::int32_t>(values.size())});
    return {};
  }
  std::vector<Captured> captured(values.size());
  const std::size_t before = problems.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (const int problem = capture(values[i], specs_[i], captured[i]); problem != 0)
      problems.push_back({problem, call, static_cast<std::int32_t>(i), 0});
  }
  if (problems.size() != before) captured.clear();
  return captured;
}

}  // namespace plumbline::timing

using namespace plumbline::timing;

extern "C" int pl_python_call(void* user, int32_t index) {
  try {
    const Python& py = python();
    const auto* calls = static_cast<const pl_python*>(user);
    const std::ptrdiff_t length = py.list_size(calls->callables);
    if (length <= 0) return 1;
    // Index -1 is the gate: the last callable.
    Object result = py.call(py.list_item(calls->callables, index < 0 ? length - 1 : index % length), nullptr);
    if (result == nullptr) return 1;
    if (calls->results != nullptr && index >= 0)
      return py.list_store(calls->results, index, result);  // takes the reference
    py.drop(result);
    return 0;
  } catch (const Failure&) {
    return 1;
  }
}
