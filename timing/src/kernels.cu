// SPDX-License-Identifier: Apache-2.0
// The harness's own kernels. kernels_ptx.h holds their PTX (tools: timing/src/make_ptx.sh), which the
// driver compiles for the GPU it finds; nothing here is built with the project.

static __device__ __forceinline__ unsigned long long global_ns() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

// Holds every multiprocessor (the launch asks for all of the shared memory) until *gate reaches `epoch`, or for
// at most `limit_ns`; *expired then says so. Once *armed has reached `epoch` (everything is enqueued) the limit is
// `armed_ns`. *abandon is the same process's own way out, for a call that failed.
extern "C" __global__ void plumbline_block(const volatile int* gate, const volatile int* armed,
                                           const volatile int* abandon, volatile int* expired, int epoch,
                                           unsigned long long limit_ns, unsigned long long armed_ns) {
  const unsigned long long start = global_ns();
  for (int i = 1; *gate < epoch; ++i) {
    if (i % 32 == 0) {  // every 6 us or so: what is read here is not what the window waits for
      if (*abandon >= epoch) break;
      const unsigned long long waited = global_ns() - start;
      if (waited > limit_ns && (*armed < epoch || waited > armed_ns)) {
        *expired = epoch;
        break;
      }
    }
    asm volatile("nanosleep.u32 200;");
  }
}

// Says to whoever polls host memory that the stream has come this far.
extern "C" __global__ void plumbline_mark(volatile int* flag, int epoch) {
  __threadfence_system();
  *flag = epoch;
  __threadfence_system();
}

// Up to this many dimensions of a tensor.
struct Layout {
  unsigned long long sizes[16];
  long long strides[16];  // of the source, in elements
  int dims;
};

// Copies a tensor of any strides to a dense one; the same shape, row-major.
template <class Word>
static __device__ void gather(Word* to, const Word* from, const Layout& layout, unsigned long long count) {
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x; i < count;
       i += step) {
    unsigned long long rest = i;
    long long offset = 0;
#pragma unroll 1
    for (int d = layout.dims - 1; d >= 0; --d) {
      offset += static_cast<long long>(rest % layout.sizes[d]) * layout.strides[d];
      rest /= layout.sizes[d];
    }
    to[i] = from[offset];
  }
}

extern "C" __global__ void plumbline_gather(void* to, const void* from, const Layout layout,
                                            unsigned long long count, int bytes) {
  struct alignas(16) Sixteen {
    unsigned long long words[2];
  };
  switch (bytes) {
    case 1: return gather(static_cast<unsigned char*>(to), static_cast<const unsigned char*>(from), layout, count);
    case 2: return gather(static_cast<unsigned short*>(to), static_cast<const unsigned short*>(from), layout, count);
    case 4: return gather(static_cast<unsigned*>(to), static_cast<const unsigned*>(from), layout, count);
    case 8:
      return gather(static_cast<unsigned long long*>(to), static_cast<const unsigned long long*>(from), layout, count);
    case 16: return gather(static_cast<Sixteen*>(to), static_cast<const Sixteen*>(from), layout, count);
  }
}

// Cycle counter and nanosecond counter of one multiprocessor, read together.
extern "C" __global__ void plumbline_stamp(unsigned long long* out) {
  unsigned smid;
  asm volatile("mov.u32 %0, %smid;" : "=r"(smid));
  // The nanosecond counter advances in steps (1 us on some GPUs): wait for a step, so that the pair is sharp.
  unsigned long long first = global_ns(), ns = first;
  for (int i = 0; i < 4096 && ns == first; ++i) ns = global_ns();
  unsigned long long cycles;
  asm volatile("mov.u64 %0, %clock64;" : "=l"(cycles));
  out[0] = cycles;
  out[1] = ns;
  out[2] = smid;
}

// A kernel of a known length: one thread waits for `ticks` cycles of its multiprocessor. With `out`, the cycle
// and nanosecond counters at its start and end are kept.
extern "C" __global__ void plumbline_spin(unsigned long long ticks, unsigned long long* out) {
  const unsigned long long ns = global_ns();
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %clock64;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %clock64;" : "=l"(now));
  } while (now - start < ticks);
  if (out != nullptr) {
    out[0] = start;
    out[1] = now;
    out[2] = ns;
    out[3] = global_ns();
  }
}
