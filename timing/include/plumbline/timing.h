/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of GPU work that survive a hostile student. C interface of libplumbline_timing.so; the Python
 * package `plumbline` and C++ benches use the same calls.
 *
 * The CUDA driver and NVML are found at run time: the library loads on a machine without a GPU and
 * says there what is missing. Times are milliseconds or nanoseconds as the names say; what is not known is
 * NaN, never 0. Every function returns PL_OK or a pl_status; pl_last_error() then says why, for the calling
 * thread. A session belongs to one thread at a time. */
#ifndef PLUMBLINE_TIMING_H
#define PLUMBLINE_TIMING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PL_API __attribute__((visibility("default")))

/* Every struct that is passed starts with its size, and later versions add fields at its end only. In C set
 * `struct_size` to sizeof of the struct before each call that takes it, also where the library writes it; in
 * C++ that is its default. A caller with a shorter struct of an older header gets, or gives, the fields that
 * it has. PL_USAGE: the size is 0, or more than the library knows. In an array the first element's counts for
 * all. pl_side and pl_problem lie inside other structs and stay as they are. */
#ifdef __cplusplus
#define PL_STRUCT_SIZE(type) size_t struct_size = sizeof(type)
#else
#define PL_STRUCT_SIZE(type) size_t struct_size
#endif

typedef enum pl_status {
  PL_OK = 0,
  PL_NO_DRIVER = 1,   /* libcuda.so.1 is not there, or too old */
  PL_NO_DEVICE = 2,   /* the driver sees no such GPU */
  PL_CUDA_ERROR = 3,  /* a driver call failed; the session is unusable after a device fault */
  PL_CALL_FAILED = 4, /* the timed call reported an error (in Python: raised) */
  PL_USAGE = 5        /* an argument is out of its range */
} pl_status;

typedef struct pl_session pl_session;

/* The timed work: enqueues call `index` on the session's stream. 0 is success. */
typedef int (*pl_call)(void* user, int32_t index);

enum { PL_PER_CALL = 0, PL_PIPELINED = 1 };

enum {
  PL_FLAG_HOST_BLOCKED = 1, /* enqueueing waited for the GPU: the pipelined window is not one, ms is NaN */
  PL_FLAG_LATE_WORK = 2     /* the device was still busy after the closing event */
};

/* One window. */
typedef struct pl_reading {
  PL_STRUCT_SIZE(pl_reading);
  int32_t kind;  /* PL_PER_CALL or PL_PIPELINED */
  int32_t calls; /* calls in the window */
  int32_t flags;
  int32_t reasons;   /* throttle reasons: 1 power cap, 2 thermal, 4 hardware slowdown; 0 none or unknown */
  double ms;         /* window / calls */
  double window_ms;  /* between the two events */
  double drained_ms; /* from the closing event until the device was idle, less what an idle device takes */
  double host_ms;    /* host time to enqueue the calls */
  double sm_mhz;     /* mean SM clock across the window */
  double temperature_c;
} pl_reading;

typedef struct pl_device_info {
  PL_STRUCT_SIZE(pl_device_info);
  char name[128];
  char uuid[48];
  int32_t driver_version; /* CUDA version of the driver, 13000 for 13.0 */
  int32_t compute_major;
  int32_t compute_minor;
  int32_t multiprocessors;
  int64_t l2_bytes;
  int64_t memory_bytes;
  double sm_mhz_max; /* NVML; NaN where it is not there */
  int32_t scripted;  /* 1: the fake of the tests */
  int32_t nvml;      /* 1: clocks, temperature and throttle reasons can be read */
} pl_device_info;

/* What the harness itself costs, measured now. Microseconds. */
typedef struct pl_overhead {
  PL_STRUCT_SIZE(pl_overhead);
  double per_call_us;        /* a per-call window around nothing, after a flush */
  double per_call_spread_us; /* its interquartile range */
  double launch_floor_us;    /* an empty kernel, pipelined: the spacing of launches */
  double drain_us;           /* what an idle device takes to report that it is idle */
  double flush_us;
} pl_overhead;

PL_API const char* pl_version(void);
PL_API const char* pl_last_error(void);
/* One line that says which driver and NVML were found, or what is missing. */
PL_API const char* pl_describe(void);

/* A session on GPU `ordinal`, on the driver stream `stream` (NULL: the legacy default stream), in the
 * device's primary context, as the CUDA runtime and PyTorch use it. */
PL_API int pl_open(int32_t ordinal, void* stream, pl_session** out);
/* A fake device with a scripted clock. */
PL_API int pl_open_scripted(pl_session** out);
PL_API void pl_close(pl_session* session);
PL_API int pl_info(pl_session* session, pl_device_info* out);

/* Per-call windows over calls first..first+count-1, one reading each. `cold`: L2 flushed before each. `empty`
 * time is not subtracted. */
PL_API int pl_per_call(pl_session* session, pl_call call, void* user, int32_t first, int32_t count,
                       int32_t cold, pl_reading* out);
/* One pipelined window of `count` calls. `gate`, when given, is called once everything is enqueued and before
 * the window opens; it may take up to `gate_ms`. */
PL_API int pl_pipelined(pl_session* session, pl_call call, void* user, int32_t count, pl_call gate,
                        double gate_ms, pl_reading* out);
/* The closing event of a window; what the device does after it, beyond 20 us, is added to window_ms: work
 * behind the window is paid for. PL_FLAG_LATE_WORK says that there was more than 50 us + 5 % of it. */
PL_API int pl_measure_overhead(pl_session* session, pl_overhead* out);
PL_API int pl_flush(pl_session* session);
PL_API int pl_drain(pl_session* session);
/* Enqueues a kernel that takes `ticks` SM cycles on one multiprocessor (for tests). `stamps`: device memory
 * for four uint64 (cycles at start and end, nanoseconds at start and end), or 0. */
PL_API int pl_spin(pl_session* session, uint64_t ticks, uint64_t stamps);

/* Device memory and sharing between processes. Addresses are device addresses. */
PL_API int pl_alloc(pl_session* session, uint64_t bytes, uint64_t* address);
PL_API int pl_free(pl_session* session, uint64_t address);
PL_API int pl_fill(pl_session* session, uint64_t address, uint32_t word, uint64_t bytes);
PL_API int pl_copy(pl_session* session, uint64_t to, uint64_t from, uint64_t bytes);
PL_API int pl_read(pl_session* session, void* to, uint64_t from, uint64_t bytes);
PL_API int pl_share(pl_session* session, uint64_t address, unsigned char handle[64]);
PL_API int pl_attach(pl_session* session, const unsigned char handle[64], uint64_t* address);
PL_API int pl_detach(pl_session* session, uint64_t address);

/* ---- comparison: A/A first, then A B B A, until the noise asked for or the time limit ---- */

enum { PL_SIDE_REFERENCE = 0, PL_SIDE_STUDENT = 1, PL_SIDE_REFERENCE_AGAIN = 2 };

enum { PL_PHASE_EQUAL = 0, PL_PHASE_COMPARED = 1 };

/* Takes one window of `side`. In the phase PL_PHASE_EQUAL (the A/A run) PL_SIDE_REFERENCE_AGAIN is the
 * reference in the student's place. `out` has the library's size; whoever writes less sets a smaller one. */
typedef int (*pl_window)(void* user, int32_t side, int32_t phase, int32_t round, pl_reading* out);

typedef struct pl_options {
  PL_STRUCT_SIZE(pl_options);
  double noise;        /* relative standard error of the ratio to stop at; > 0 */
  double time_limit_s; /* > 0 */
  int32_t aa_rounds;   /* >= 3 */
  int32_t min_rounds;  /* >= 3 */
  int32_t max_rounds;
  double
      clock_tolerance; /* a round is throttled when a window's clock is this share below its side's median */
  int32_t max_dropped; /* throttled rounds that are retried before the rest are kept */
} pl_options;
PL_API int pl_default_options(pl_options* out);

enum { PL_STOP_NOISE = 0, PL_STOP_TIME = 1, PL_STOP_ROUNDS = 2 };

typedef struct pl_side {
  double ms; /* geometric mean over the kept, untrimmed rounds */
  double median_ms;
  double low_ms; /* 95 % interval of the median */
  double high_ms;
  double sm_mhz; /* median over the windows; NaN unknown */
  double temperature_c;
} pl_side;

typedef struct pl_comparison {
  PL_STRUCT_SIZE(pl_comparison);
  pl_side reference;
  pl_side student;
  double ratio;     /* reference / student */
  double ratio_low; /* 95 % interval */
  double ratio_high;
  double rse;      /* relative standard error of the ratio */
  double aa_ratio; /* of the A/A run; ought to be 1 */
  double aa_rse;
  double smallest_difference; /* |ratio - 1| under this may not be claimed */
  int32_t rounds;             /* kept */
  int32_t dropped;            /* throttled, on both sides */
  int32_t kept_throttled;     /* throttled, but the retries were spent */
  int32_t stop;               /* PL_STOP_* */
  int32_t flags;              /* or of all readings' flags */
  int32_t reasons;
  double seconds;
} pl_comparison;

/* Samples (two windows a round and side, in the order taken) go to `reference_ms` and `student_ms`
 * (`capacity` each, NULL with 0); `kept` (capacity, may be NULL) holds 0 for those of dropped rounds. `count`
 * gets how many were written. */
PL_API int pl_compare(pl_session* session, pl_window window, void* user, const pl_options* options,
                      pl_comparison* out, double* reference_ms, double* student_ms, int32_t* kept,
                      int32_t capacity, int32_t* count);

/* ---- the scripted fake ---- */
/* Advances the fake's stream (or, `other_stream`, a second one) by `ns` of work; as a call's kernel would. */
PL_API int pl_script_work(pl_session* session, double ns, int32_t other_stream);
/* Host time that the next calls take, ns. */
PL_API int pl_script_host(pl_session* session, double ns);
/* SM clock of the windows to come, MHz; the last one stays. */
PL_API int pl_script_clocks(pl_session* session, const double* mhz, int32_t count);
/* Throttle reasons of the windows to come; the last one stays. */
PL_API int pl_script_reasons(pl_session* session, const int32_t* reasons, int32_t count);
/* The call waits for the device (as a student that synchronizes). */
PL_API int pl_script_synchronize(pl_session* session);

/* ---- windows of another process ----
 * The harness makes a page of shared memory and orders windows through it. It opens each window itself (the
 * GPU's holding kernel polls a flag that only the harness can write) and sees it close by a flag that the GPU
 * writes: its own clock brackets the window. What the other process reports is held against that. */

typedef struct pl_page pl_page;
typedef struct pl_server pl_server;

typedef struct pl_order {
  PL_STRUCT_SIZE(pl_order);
  int32_t number; /* of this order; the epochs of its windows are epoch .. epoch + calls - 1 (per call) */
  int32_t epoch;
  int32_t kind;
  int32_t calls;
  int32_t first; /* the input set of the first call */
  int32_t cold;
  int32_t collect; /* look at what the calls return; copy it where pl_serve_outputs said */
} pl_order;

/* What is wrong with the form of an output. */
enum {
  PL_OUTPUT_COUNT = 1, /* `value`: how many there were */
  PL_OUTPUT_TYPE = 2,  /* no plain tensor, or no plain container of them */
  PL_OUTPUT_DEVICE = 3,
  PL_OUTPUT_DTYPE = 4,
  PL_OUTPUT_SHAPE = 5,
  PL_OUTPUT_LAZY = 6 /* the tensor stands for another one (conjugate, negative, sparse) */
};
typedef struct pl_problem {
  int32_t code;
  int32_t call;
  int32_t output;
  int32_t value;
} pl_problem;

typedef struct pl_answer {
  PL_STRUCT_SIZE(pl_answer);
  int32_t number;
  int32_t status; /* pl_status of the window */
  int32_t calls;
  int32_t problems; /* all of them; the first 16 are told */
  int32_t guards;   /* bit i: guard i of pl_serve_guards does not say what it said */
  int32_t copied;   /* outputs copied to the outbox */
  pl_problem problem[16];
} pl_answer;

/* What the harness's clock saw of one window. */
typedef struct pl_bracket {
  PL_STRUCT_SIZE(pl_bracket);
  double ms; /* from its own release of the window (per call: from the opening mark) to the closing mark */
  double drained_ms; /* from the closing mark until the other process said that its device was idle */
  int32_t early;     /* the window had opened before it was released */
} pl_bracket;

/* The harness's side. Two file descriptors for the other process: it maps them and closes them. */
PL_API int pl_page_open(int32_t* orders_file, int32_t* answers_file, pl_page** out);
PL_API void pl_page_close(pl_page* page);
PL_API int pl_page_order(pl_page* page, pl_order* order); /* fills in number and epoch */
/* What a wait ended by. */
enum { PL_WAIT_LIMIT = 0, PL_WAIT_READY = 1, PL_WAIT_ANSWERED = 2 /* the window failed */, PL_WAIT_GONE = 3 };
/* Waits until everything of a pipelined window is enqueued. `alive`: a descriptor that hangs up when the
 * other process ends, or -1. */
PL_API int pl_page_wait(pl_page* page, int32_t alive, double limit_s, int32_t* state);
/* Opens window `index` of the order (0; per call: each of its calls in turn) and watches it close. */
PL_API int pl_page_watch(pl_page* page, int32_t index, int32_t alive, double limit_s, int32_t* state,
                         pl_bracket* out);
/* Waits for the answer; `readings` and `scripted_ms` (the fake's stand-in for the harness's clock) hold as
 * many as the order has calls. */
PL_API int pl_page_answer(pl_page* page, int32_t alive, double limit_s, int32_t* state, pl_answer* out,
                          pl_reading* readings, double* scripted_ms);
/* Lets the other process go on. Until then it holds its interpreter's lock: nothing of Python runs there
 * between the end of the window and the harness's own copy of the outputs. */
PL_API int pl_page_taken(pl_page* page);

/* The measured process's side. */
typedef struct pl_output_spec {
  PL_STRUCT_SIZE(pl_output_spec);
  void* dtype; /* the library's own dtype object */
  int32_t dims;
  int32_t item_bytes;
  int64_t shape[16];
  int64_t strides[16]; /* in elements, of an output that calls write in place */
  int64_t offset;      /* in an outbox slot */
} pl_output_spec;

PL_API int pl_serve_open(pl_session* session, int32_t orders_file, int32_t answers_file, pl_server** out);
/* The tensor library: a tuple (tensor type, get of a descriptor, data_ptr, stride, is_neg, is_conj, shape,
 * dtype, is_cuda, layout, the strided layout), or (array type,) for arrays with the buffer protocol; then
 * other container types that are as plain as tuples. */
PL_API int pl_serve_library(pl_server* server, void* probes, void* containers);
/* `handle`: the outbox of the harness; NULL: outputs are looked at and not copied. */
PL_API int pl_serve_outputs(pl_server* server, const unsigned char* handle, int32_t slots, uint64_t stride,
                            const pl_output_spec* specs, int32_t count);
/* The callables of the input sets, as a list; `written`: for each set the addresses of the `count` outputs
 * that a call writes in place of returning them, or NULL. */
PL_API int pl_serve_calls(pl_server* server, void* callables, const uint64_t* written);
/* A list of (callable, what it returns when all is well), looked at after every window. */
PL_API int pl_serve_guards(pl_server* server, void* guards);
PL_API int pl_serve_window(pl_server* server);
/* Waits for `file` to be readable with the interpreter lock held: no thread of the student runs meanwhile. */
PL_API int pl_serve_wait(int32_t file);

/* ---- processes ---- */
/* Signals every descendant of `root` (not itself), again until a look at all processes finds no new one;
 * SIGKILL until none is left. The `count` processes of `spared` and theirs are left alone. *found: how many
 * there were. */
PL_API int pl_signal_descendants(int32_t root, int32_t number, const int32_t* spared, int32_t count,
                                 int32_t* found);
/* From now on this process gets the orphans among its descendants. */
PL_API int pl_subreaper(void);
/* Processes that NVML sees on the GPU: how many, and how many of them are not among `known`. -1: it does not
 * tell. */
PL_API int pl_gpu_processes(pl_session* session, const int32_t* known, int32_t count, int32_t* all,
                            int32_t* foreign);

/* ---- Python ---- */
/* A pl_call that calls Python objects: user is a pl_python. The interpreter's functions are found in the
 * process. Load the library with ctypes.PyDLL: the interpreter lock stays held, so that no other Python
 * thread runs in a window unless the timed call itself lets go of it. */
typedef struct pl_python {
  PL_STRUCT_SIZE(pl_python);
  void* callables; /* a list of callables without arguments; call i is callables[i % len] */
  void* results;   /* a list of at least as many places, or NULL; results[i] gets the i-th result */
} pl_python;
PL_API int pl_python_call(void* user, int32_t index);

#undef PL_STRUCT_SIZE

#ifdef __cplusplus
}
#endif
#endif
