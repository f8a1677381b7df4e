#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes large profiler files for benchmarks, the same bytes every time.

  tools/make_big_profile.py torch OUT.json --mib 2048        a PyTorch trace, one kernel among four events
  tools/make_big_profile.py ncu-raw OUT.csv --mib 512        Nsight Compute, raw page (wide)
  tools/make_big_profile.py ncu-details OUT.csv --mib 512    Nsight Compute, details page (long)
  tools/make_big_profile.py nsys OUT.sqlite --rows 4000000   Nsight Systems, schema 3.20
  tools/make_big_profile.py KIND OUT --rows 1000000          nsys-trace, nsys-console, rocprofv3, rocpd, nvprof, xla, proton,
                                                             ncu-text
"""
import argparse
import json
import pathlib
import sqlite3

FUNCTORS = ("at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::"
            "{lambda(float)#1}")
NAMES = [f"void at::native::elementwise_kernel<{128 << (i % 3)}, {i + 1}, at::native::gpu_kernel_impl_nocast<{FUNCTORS}>"
         f"(at::TensorIteratorBase&, {FUNCTORS} const&)::{{lambda(int)#{i}}}>(int, at::native::Params<{i}>)"
         if i % 2 else
         f"void pytorch_flash::flash_fwd_kernel_{i}<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "
         f"cutlass::bfloat16_t>, false, true>(pytorch_flash::Flash_fwd_params)" for i in range(24)]


def duration(i):
    """Between 2 and 402 us, in ns, from the row's number alone."""
    return 2000 + (i * 2654435761 % 4294967296) % 400000


def torch_events(i, start):
    """One operator with its launch, its kernel and its flow arrow."""
    dur = duration(i)
    us, ns = divmod(start, 1000)
    name = NAMES[i % len(NAMES)]
    return f'''  {{
    "ph": "X", "cat": "cpu_op", "name": "aten::op_{i % 97}", "pid": 989, "tid": 989,
    "ts": {us - 20}.{ns:03d}, "dur": 19.830,
    "args": {{
      "External id": {i},"Record function id": 0, "Ev Idx": {i}
    }}
  }},
  {{
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 989, "tid": 989,
    "ts": {us - 10}.{ns:03d}, "dur": 4.100,
    "args": {{
      "External id": {i}, "cbid": 211, "correlation": {i}
    }}
  }},
  {{
    "ph": "s", "id": {i}, "pid": 989, "tid": 989, "ts": {us - 10}.{ns:03d},
    "cat": "ac2g", "name": "ac2g"
  }},
  {{
    "ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": 7,
    "ts": {us}.{ns:03d}, "dur": {dur // 1000}.{dur % 1000:03d},
    "args": {{
      "External id": {i}, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {i},
      "registers per thread": 16, "shared memory": 0, "blocks per SM": 124.121216, "warps per SM": 496.484863,
      "grid": [16384, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 100
    }}
  }}'''


def write_torch(out, size):
    with open(out, "w", encoding="ascii", newline="\n") as file:
        file.write('{\n  "schemaVersion": 1,\n  "deviceProperties": [ {"id": 0, "name": "NVIDIA H200"} ],\n'
                   '  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": 1790857026000000000,\n  "traceEvents": [\n')
        i, start, written = 0, 5192908278634463, 0
        while written < size:
            block = []
            for _ in range(2000):
                block.append(torch_events(i, start))
                start += duration(i) + 1500
                i += 1
            text = ",\n".join(block)
            written += file.write(text if i == 2000 else ",\n" + text)
        file.write('\n  ],\n  "traceName": "trace.json"\n}\n')


BASE = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC"'


def base_cells(i):
    return (f'"{i}","778","python3.12","127.0.0.1","{NAMES[i % len(NAMES)]}","1","7","(128, 1, 1)","(16384, 1, 1)",'
            f'"0","9.0"')


def write_ncu_raw(out, size):
    metrics = [f"device__attribute_{i}" for i in range(90)] + ["gpu__time_duration.sum"] + \
              [f"sm__metric_{i}.avg" for i in range(90)] + \
              ["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"]
    units = ",".join('"ns"' if "time" in m else '"%"' if "pct" in m else '""' for m in metrics)
    with open(out, "w", encoding="ascii", newline="\n") as file:
        file.write("==PROF== Connected to process 778 (/usr/bin/python3.12)\n")
        file.write(BASE + "," + ",".join(f'"{m}"' for m in metrics) + "\n" + '"",' * 11 + units + "\n")
        written, i = 0, 0
        left = ",".join(f'"{1000 + k * 37:,}"' for k in range(90))
        right = ",".join(f'"{k * 1.37:.2f}"' for k in range(90))
        while written < size:
            written += file.write(f'{base_cells(i)},{left},"{duration(i):,}",{right},"{i % 90}.25"\n')
            i += 1


def write_ncu_details(out, size):
    metrics = [("DRAM Frequency", "Ghz", "3.20"), ("SM Frequency", "Ghz", "1.77"), ("Elapsed Cycles", "cycle", "312,994"),
               ("Memory Throughput", "%", "24.10"), ("Duration", "us", None)] + \
              [(f"Metric {k}", "%", f"{k}.50") for k in range(30)]
    with open(out, "w", encoding="ascii", newline="\n") as file:
        file.write(BASE + ',"Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type",'
                          '"Rule Description","Estimated Speedup Type","Estimated Speedup"\n')
        written, i = 0, 0
        while written < size:
            base = base_cells(i)
            for name, unit, value in metrics:
                value = f"{duration(i) / 1000:.2f}" if value is None else value
                written += file.write(f'{base},"GPU Speed Of Light Throughput","{name}","{unit}","{value}",\n')
            written += file.write(f'{base},"SpeedOfLight","","","","SOLBottleneck","INF","A, remark.","",""\n')
            i += 1


def write_nsys(out, rows):
    pathlib.Path(out).unlink(missing_ok=True)
    db = sqlite3.connect(out)
    db.executescript("""
      PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
      CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
      CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
      CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT);
      CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
        contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER,
        globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER,
        launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL,
        gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL,
        blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL,
        localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL,
        sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);""")
    db.execute("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.20.2')")
    db.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'NVIDIA H200')")
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", list(enumerate(NAMES, 1000)))

    def launches():
        start = 15057495
        for i in range(rows):
            end = start + duration(i)
            name = 1000 + i % len(NAMES)
            yield (start, end, 0, 1, 0, 7, i, 281641842900992, name, name, name, 1, 3, 16, 16384, 1, 1, 128, 1, 1, 0, 0,
                   0, 23592960, i, 32768, None, 0)
            start = end + 1500
    db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + ",".join("?" * 28) + ")", launches())
    db.commit()
    db.close()


def launches(rows):
    """(number, start, duration, name) of every launch."""
    start = 15057495
    for i in range(rows):
        yield i, start, duration(i), NAMES[i % len(NAMES)]
        start += duration(i) + 1500


def write_nsys_trace(file, rows):
    file.write("Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),"
               "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n")
    for i, start, dur, name in launches(rows):
        file.write(f'{start},{dur},{i},16384,1,1,128,1,1,16,0.000,0.000,,,,,NVIDIA H200 (0),1,,7,"{name}"\n')


def write_nsys_console(file, rows):
    file.write(f" {'Start (ns)':>18}  {'Duration (ns)':>13}  {'CorrId':>8}  {'Device':^15}  Strm  Name\n"
               f" {'-' * 18}  {'-' * 13}  {'-' * 8}  {'-' * 15}  ----  {'-' * 100}\n")
    for i, start, dur, name in launches(rows):
        file.write(f" {start:18,}  {dur:13,}  {i:8}  NVIDIA H200 (0)     7  {name[:99]}…\n")


def write_rocprofv3(file, rows):
    file.write('"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",'
               '"Start_Timestamp","End_Timestamp"\n')
    for i, start, dur, name in launches(rows):
        file.write(f'"KERNEL_DISPATCH","Agent 2",1,0,70,{i + 1},{i % 24},"{name}",{i},{start},{start + dur}\n')


def write_nvprof(file, rows):
    file.write('==7== NVPROF is profiling process 7, command: ./app\n==7== Profiling result:\n"Start","Duration","Grid X",'
               '"Device","Context","Stream","Name"\nus,us,,,,,\n')
    for i, start, dur, name in launches(rows):
        file.write(f'{start // 1000}.{start % 1000:03}000,{dur // 1000}.{dur % 1000:03}000,8,"Tesla V100 (0)","1","7",'
                   f'"{name} [{i}]"\n')


def write_xla(file, rows):
    file.write('{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[\n'
               '{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},\n'
               '{"ph":"M","pid":1,"tid":13,"name":"thread_name","args":{"name":"Stream #13(Compute)"}}')
    for i, start, dur, name in launches(rows):
        file.write(f',\n{{"ph":"X","pid":1,"tid":13,"ts":{start // 1000}.{start % 1000:03},"dur":{dur // 1000}.{dur % 1000:03},'
                   f'"name":"{name}","args":{{"correlation_id":"{i}","hlo_module":"jit_f","hlo_op":"fusion.{i % 24}"}}}}')
    file.write("\n]}\n")


def write_proton(file, rows):
    """A context of its own for every launch: the largest tree that so many launches can make."""
    file.write('[{"children":[')
    for i, _, dur, name in launches(rows):
        file.write(f'{"," if i else ""}{{"children":[{{"children":[],"frame":{{"name":{json.dumps(name)},"type":"function"}},'
                   f'"metrics":{{"count":1,"device_id":"0","device_type":"CUDA","time (ns)":{dur}}}}}],"frame":{{"name":'
                   f'"call_{i}","type":"function"}},"metrics":{{}}}}')
    file.write('],"frame":{"name":"ROOT","type":"function"},"metrics":{"count":0,"time (ns)":0}},{"CUDA":{"0":{"arch":"90"}}}]')


def write_ncu_text(file, rows):
    for i, _, dur, name in launches(rows):
        file.write(f"  {name} (16384, 1, 1)x(128, 1, 1), Context 1, Stream 7, Device 0, CC 9.0\n    Section: GPU Speed Of Light "
                   f"Throughput\n    ---------------- ----------- ------------\n    Metric Name      Metric Unit Metric Value\n"
                   f"    ---------------- ----------- ------------\n    Elapsed Cycles         cycle      312,994\n"
                   f"    Duration                  us {dur / 1000:12.2f}\n    ---------------- ----------- ------------\n\n")


def write_rocpd(out, rows):
    pathlib.Path(out).unlink(missing_ok=True)
    db = sqlite3.connect(out)
    db.executescript("""PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
      CREATE TABLE rocpd_info_kernel_symbol_1 (id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT);
      CREATE TABLE rocpd_kernel_dispatch_1 (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER,
        dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT, "end" BIGINT);""")
    db.executemany("INSERT INTO rocpd_info_kernel_symbol_1 VALUES (?, ?, ?)", [(i, n, n) for i, n in enumerate(NAMES)])
    db.executemany("INSERT INTO rocpd_kernel_dispatch_1 VALUES (?,1,1,4,?,?,1,0,?,?)",
                   ((i + 1, i % len(NAMES), i, start, start + dur) for i, start, dur, _ in launches(rows)))
    db.commit()
    db.close()


BY_ROWS = {"nsys-trace": write_nsys_trace, "nsys-console": write_nsys_console, "rocprofv3": write_rocprofv3,
           "nvprof": write_nvprof, "xla": write_xla, "proton": write_proton, "ncu-text": write_ncu_text}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["torch", "ncu-raw", "ncu-details", "nsys", "rocpd", *BY_ROWS])
    parser.add_argument("out")
    parser.add_argument("--mib", type=int, default=256, help="size of a text file, about")
    parser.add_argument("--rows", type=int, default=1000000, help="kernel rows of a database")
    args = parser.parse_args()
    if args.kind == "nsys":
        write_nsys(args.out, args.rows)
    elif args.kind == "rocpd":
        write_rocpd(args.out, args.rows)
    elif args.kind in BY_ROWS:
        with open(args.out, "w", encoding="utf-8", newline="\n") as file:
            BY_ROWS[args.kind](file, args.rows)
    else:
        {"torch": write_torch, "ncu-raw": write_ncu_raw, "ncu-details": write_ncu_details}[args.kind](args.out, args.mib << 20)


if __name__ == "__main__":
    main()
