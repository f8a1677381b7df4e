// SPDX-License-Identifier: Apache-2.0
// The harness's own three kernels. kernels_ptx.h holds their PTX (tools: timing/src/make_ptx.sh), which the
// driver compiles for the GPU it finds; nothing here is built with the project.

static __device__ __forceinline__ unsigned long long global_ns() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

// Holds every multiprocessor (the launch asks for all of the shared memory) until the host raises *gate to
// `epoch`, or for at most `limit_ns`; *expired then says so.
extern "C" __global__ void plumbline_block(const volatile int* gate, int epoch, unsigned long long limit_ns,
                                           volatile int* expired) {
  const unsigned long long start = global_ns();
  while (*gate < epoch) {
    if (global_ns() - start > limit_ns) {
      *expired = epoch;
      break;
    }
    asm volatile("nanosleep.u32 200;");
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
