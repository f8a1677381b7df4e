#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole models of the shapes that `benchmarks/search_shapes.py` drew, measured beside what the search said of them.

search_order.py SHAPES.json OUTPUT_FOLDER [--seconds 240]      then, anywhere: search_shapes.py --judge SHAPES.json MEASURED.json

Each model has all of its layers, each with its own weights, embedding and LM head, in bf16; a forward pass is one CUDA
graph, and its windows are the harness's pipelined ones. Prefill: 2,048 tokens; decode: one step of 32 sequences with 2,048
keys. Of the two attention backends the faster one counts, as the space asks. The first two shapes (the known model and the
search's first) are measured again halfway and at the end: how far they moved is the noise. The folder gets measured.json
(every window) after each model, and machine.json.
"""
import argparse
import gc
import json
import os
import statistics
import subprocess
import time

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel

from plumbline import Session, machine

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


@triton.jit
def norm_kernel(x, a, w, residual, y, cols, ADD: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    at = tl.arange(0, BLOCK)
    mask = at < cols
    v = tl.load(x + row + at, mask, 0.0).to(tl.float32)
    if ADD:
        v += tl.load(a + row + at, mask, 0.0).to(tl.float32)
        tl.store(residual + row + at, v.to(tl.bfloat16), mask)
    scale = tl.rsqrt(tl.sum(v * v) / cols + 1e-5)
    weight = tl.load(w + at, mask, 0.0).to(tl.float32)
    tl.store(y + row + at, (v * scale * weight).to(tl.bfloat16), mask)


@triton.jit
def swiglu_kernel(x, y, cols, BLOCK: tl.constexpr):
    row, at = tl.program_id(0).to(tl.int64), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = at < cols
    gate = tl.load(x + row * 2 * cols + at, mask, 0.0).to(tl.float32)
    up = tl.load(x + row * 2 * cols + cols + at, mask, 0.0).to(tl.float32)
    tl.store(y + row * cols + at, (gate * tl.sigmoid(gate) * up).to(tl.bfloat16), mask)


@triton.jit
def rope_kernel(x, cos, sin, stride, heads, HALF: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1) * 8 + tl.arange(0, 8)[:, None]
    at = tl.arange(0, BLOCK)[None, :]
    mask = (head < heads) & (at < HALF)
    p = x + row * stride + head * (2 * HALF) + at
    c = tl.load(cos + row * HALF + at, at < HALF, 0.0)
    s = tl.load(sin + row * HALF + at, at < HALF, 0.0)
    u, v = tl.load(p, mask, 0.0).to(tl.float32), tl.load(p + HALF, mask, 0.0).to(tl.float32)
    tl.store(p, (u * c - v * s).to(tl.bfloat16), mask)
    tl.store(p + HALF, (v * c + u * s).to(tl.bfloat16), mask)


def norm(x, w, add=None):
    """RMSNorm of x, or of x + add with that sum too."""
    y, residual = torch.empty_like(x), torch.empty_like(x) if add is not None else x
    norm_kernel[(x.shape[0],)](x, x if add is None else add, w, residual, y, x.shape[1], ADD=add is not None,
                               BLOCK=triton.next_power_of_2(x.shape[1]), num_warps=8)
    return y, residual


def swiglu(x):
    y = torch.empty(x.shape[0], x.shape[1] // 2, device=x.device, dtype=x.dtype)
    swiglu_kernel[(y.shape[0], triton.cdiv(y.shape[1], 1024))](x, y, y.shape[1], BLOCK=1024)
    return y


class Model:
    """All weights of a shape, and its forward pass."""

    def __init__(self, shape, sequences, seq_len):
        g = {"device": "cuda", "dtype": torch.bfloat16}
        d = self.d = {k: int(v) for k, v in shape.items()}
        self.kept, self.seq_len = sequences, seq_len
        wide = (d["num_heads"] + 2 * d["num_kv_heads"]) * d["head_dim"]
        sizes = {"qkv": (wide, d["hidden_dim"]), "out": (d["hidden_dim"], d["num_heads"] * d["head_dim"]),
                 "up": (2 * d["ffn_dim"], d["hidden_dim"]), "down": (d["hidden_dim"], d["ffn_dim"])}
        self.layers = [{k: torch.empty(s, **g).normal_(0, 0.02) for k, s in sizes.items()} for _ in range(d["num_layers"])]
        for layer in self.layers:
            layer["keys"], layer["values"] = (torch.zeros(sequences, d["num_kv_heads"], seq_len, d["head_dim"],
                                                          **g).normal_() for _ in range(2))
        self.ones = torch.ones(d["hidden_dim"], **g)
        self.embedding = torch.empty(d["vocab_size"], d["hidden_dim"], **g).normal_(0, 0.02)
        self.head = torch.empty(d["vocab_size"], d["hidden_dim"], **g).normal_(0, 0.02)
        angle = torch.rand(seq_len, d["head_dim"] // 2, device="cuda") * 6
        self.cos, self.sin = angle.cos().contiguous(), angle.sin().contiguous()

    def attention(self, qkv, layer, decode):
        d = self.d
        q, k, v = qkv.split([d["num_heads"] * d["head_dim"]] + [d["num_kv_heads"] * d["head_dim"]] * 2, dim=1)
        if not decode:
            q, k, v = (t.view(1, t.shape[0], -1, d["head_dim"]).transpose(1, 2) for t in (q, k, v))
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        else:
            layer["keys"][:, :, -1].copy_(k.view(k.shape[0], -1, d["head_dim"]))
            layer["values"][:, :, -1].copy_(v.view(v.shape[0], -1, d["head_dim"]))
            q = q.view(q.shape[0], 1, -1, d["head_dim"]).transpose(1, 2)
            out = F.scaled_dot_product_attention(q, layer["keys"], layer["values"], enable_gqa=True)
        return out.transpose(1, 2).reshape(qkv.shape[0], -1)

    def forward(self, tokens, decode):
        d = self.d
        x = F.embedding(tokens, self.embedding)
        heads = d["num_heads"] + d["num_kv_heads"]
        for layer in self.layers:
            qkv = F.linear(norm(x, self.ones)[0], layer["qkv"])
            rope_kernel[(qkv.shape[0], triton.cdiv(heads, 8))](
                qkv, self.cos, self.sin, qkv.shape[1], heads, HALF=d["head_dim"] // 2,
                BLOCK=triton.next_power_of_2(d["head_dim"] // 2))
            a = F.linear(self.attention(qkv, layer, decode), layer["out"])
            h, x = norm(x, self.ones, a)
            x = x + F.linear(swiglu(F.linear(h, layer["up"])), layer["down"])
        x = norm(x, self.ones)[0]
        return F.linear(x if decode else x[-1:], self.head)

    def measure(self, session, decode, backend):
        """Windows of passes: milliseconds a pass, and the SM clock of each window."""
        tokens = torch.randint(0, self.d["vocab_size"], (self.kept if decode else self.seq_len,), device="cuda")
        with torch.no_grad(), sdpa_kernel([BACKENDS[backend]]):
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                self.forward(tokens, decode)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self.forward(tokens, decode)
        calls = [graph.replay] * (8 if decode else 2)
        graph.replay()  # uploads the graph
        events = [torch.cuda.Event(enable_timing=True) for _ in range(len(calls) + 1)]
        events[0].record()
        for call, event in zip(calls, events[1:]):
            call()
            event.record()
        torch.cuda.synchronize()
        out = {"events_ms": statistics.median(a.elapsed_time(b) for a, b in zip(events, events[1:]))}  # a check on the windows
        session.pipelined(calls)
        readings = [session.pipelined(calls) for _ in range(9 if decode else 7)]
        torch.cuda.synchronize()
        return {"ms": statistics.median(r.ms for r in readings), **out, "windows_ms": [r.ms for r in readings], "passes": len(calls),
                "flags": [r.flags for r in readings], "sm_mhz": [r.sm_mhz if r.sm_mhz > 0 else None for r in readings]}


def describe(session):
    """The machine: what the harness knows, PyTorch's versions and nvidia-smi's own words."""
    smi = subprocess.run(["nvidia-smi", "-q", "-d", "CLOCK,POWER,PERFORMANCE,MEMORY"], capture_output=True, text=True, check=False)
    return {**machine.describe(session), "torch": torch.__version__, "triton": triton.__version__, "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(), "nvidia_smi": smi.stdout.splitlines(), "overhead_us": session.overhead()}


def measure(session, entry):
    """One entry of measured.json."""
    result, wrong = {"name": entry["name"], "shape": entry["shape"]}, []
    model = Model(entry["shape"], 32, 2048)
    for phase in ("prefill", "decode"):
        for backend in BACKENDS:
            try:
                result[f"{phase}_{backend}"] = model.measure(session, phase == "decode", backend)
            except RuntimeError as error:  # a backend that has no kernel for the head width
                wrong.append(f"{phase} {backend}: {str(error).splitlines()[0][:200]}")
        best = [result[k]["ms"] for k in (f"{phase}_{b}" for b in BACKENDS) if k in result]
        result[f"{phase}_ms"] = min(best) if best else None
    result["not_run"] = wrong
    return result


def write(path, value):
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
        file.write("\n")
    os.replace(path + ".part", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("shapes")
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=240, help="no model is begun later")
    args = parser.parse_args()
    begin = time.monotonic()
    os.makedirs(args.folder, exist_ok=True)
    with open(args.shapes, encoding="utf-8") as file:
        listed = json.load(file)["shapes"]
    torch.zeros(1, device="cuda")
    session = Session.cuda(0)
    write(os.path.join(args.folder, "machine.json"), describe(session))
    out = {"gpu": torch.cuda.get_device_name(), "shapes": os.path.basename(args.shapes), "measured": []}
    half = len(listed) // 2
    measure(session, listed[0])  # compiles the kernels and warms the card up; not kept
    for entry in [*listed[:half], *listed[:2], *listed[half:], *listed[:2]]:
        if time.monotonic() - begin > args.seconds:
            print("out of time: not every shape was measured")
            break
        result = measure(session, entry)
        gc.collect()
        torch.cuda.empty_cache()
        out["measured"].append({"at_s": round(time.monotonic() - begin, 1), **result})
        write(os.path.join(args.folder, "measured.json"), out)
        print(f"{time.monotonic() - begin:5.1f} s  {entry['name']:10}  prefill {result['prefill_ms']} ms, decode {result['decode_ms']} ms "
              f"{'; '.join(result['not_run'])}", flush=True)


if __name__ == "__main__":
    main()
