# SPDX-License-Identifier: Apache-2.0
"""Which shapes a submission measures, in which order: each further one lies where the ones before left most room (a Halton sequence on
the sizes' logarithms), and the operations take turns, so that a run which ends early has a sound design of everything."""

import math

# (hidden, heads, KV heads, head width, FFN) of published models: every other GEMM is one of theirs
MODELS = [(4096, 32, 8, 128, 14336), (5120, 40, 8, 128, 17408), (2048, 16, 2, 128, 8192), (8192, 64, 8, 128, 28672),
          (3584, 28, 4, 128, 18944), (1536, 8, 1, 256, 6144), (2560, 32, 8, 128, 9728), (5376, 32, 16, 256, 21504),
          (1024, 8, 1, 128, 4096), (3072, 24, 8, 128, 8192)]
HEADS = [(32, 8, 128), (64, 8, 128), (16, 2, 128), (32, 32, 96), (8, 1, 256), (28, 4, 128), (16, 16, 64), (40, 8, 128), (12, 12, 64),
         (24, 8, 128), (8, 8, 192), (96, 8, 128), (4, 1, 256)]
EXPERTS = [(4096, 14336, 2, 8), (2048, 768, 8, 128), (2048, 1408, 6, 64), (7168, 2048, 8, 64), (3072, 1536, 4, 16), (5120, 8192, 1, 16)]

MOST_OPERATIONS = 1.5e12  # of one call: about ten milliseconds on the slowest card that is asked

# One turn of the operations. A GEMM costs least and says most.
TURN = ["gemm", "prefill", "gemm", "gemm_fp8", "decode", "gemm", "grouped_gemm", "elementwise", "gemm", "prefill", "gemm_fp8", "decode",
        "gemm", "window"]


def halton(number, base):
    """The radical inverse of `number`: in [0, 1), evenly spread for every first n."""
    out, share = 0.0, 1.0
    while number:
        share /= base
        out += share * (number % base)
        number //= base
    return out


def _between(u, low, high):
    return int(round(2 ** (math.log2(low) + u * (math.log2(high) - math.log2(low)))))


def _gemm(number):
    u = [halton(number + 1, base) for base in (2, 3, 5)]
    m = _between(u[0], 1, 16384)
    if number % 2:
        hidden, heads, kv_heads, dim, ffn = MODELS[number // 2 % len(MODELS)]
        n, k = (((heads + 2 * kv_heads) * dim, hidden), (hidden, heads * dim), (2 * ffn, hidden), (hidden, ffn))[number // 20 % 4]
    else:
        step = (64, 128, 16)[number // 2 % 3]
        n, k = (max(64, _between(v, 256, 32768) // step * step) for v in u[1:])
    while 2 * m * n * k > MOST_OPERATIONS:
        m //= 2
    return {"m": m, "n": n, "k": k}


def _pick(number, base, choices):
    return choices[int(halton(number + 1, base) * len(choices))]


def _heads(number):
    heads, kv_heads, dim = HEADS[number // 2 % len(HEADS)]
    if number % 2:  # every other one is nobody's
        heads = _pick(number, 5, (4, 8, 12, 16, 20, 24, 32, 40, 48, 64, 96))
        kv_heads = _pick(number, 7, [h for h in (1, 2, 4, 8, 16, heads) if heads % h == 0])
        dim = _pick(number, 11, (64, 128, 80, 128, 96, 192, 256))
    return {"heads": heads, "kv_heads": kv_heads, "head_dim": dim}


def _prefill(number):
    length = max(64, _between(halton(number + 1, 2), 64, 12000) // 64 * 64)
    batch = _between(halton(number + 1, 3), 1, max(1, 20000 // length) + 0.4)
    return {"batch": batch, "q_len": length, "kv_len": length, **_heads(number), "causal": 1, "window": 0}


def _decode(number):
    length = max(128, _between(halton(number + 1, 2), 128, 32768) // 64 * 64)
    shape = _heads(number)
    batch = _between(halton(number + 1, 3), 1, 160)
    while batch > 1 and batch * length * shape["kv_heads"] * shape["head_dim"] * 4 > 4e9:
        batch //= 2
    return {"batch": batch, "q_len": 1, "kv_len": length, **shape, "causal": 0, "window": 0}


def _window(number):
    shape = _prefill(number)
    shape["q_len"] = shape["kv_len"] = max(1024, shape["q_len"])
    shape["batch"] = 1
    shape["window"] = (128, 512, 1024, 256)[number % 4]
    if shape["window"] >= shape["q_len"]:
        shape["window"] = 128
    return shape


def _grouped(number):
    hidden, inter, topk, experts = EXPERTS[number // 2 % len(EXPERTS)]
    if number % 2:
        hidden, inter = (_between(halton(number + 1, base), 1024, top) // 128 * 128 for base, top in ((5, 8192), (7, 6144)))
        experts = _pick(number, 11, (8, 16, 32, 64, 128))
        topk = _pick(number, 13, (1, 2, 4, 6, 8))
    return {"tokens": _between(halton(number + 1, 2), 4, 8192), "hidden": hidden, "inter": inter, "topk": topk, "experts": experts,
            "distribution": ("balanced", "power_law_1.2")[number // 4 % 2]}


def _elementwise(number):
    return {"op": ("rmsnorm", "residual_add")[number % 2], "rows": _between(halton(number + 1, 2), 1, 16384),
            "cols": _between(halton(number + 1, 3), 1024, 8192) // 64 * 64}


MAKERS = {"gemm": _gemm, "gemm_fp8": _gemm, "prefill": _prefill, "decode": _decode, "window": _window, "grouped_gemm": _grouped,
          "elementwise": _elementwise}


def design():
    """(operation, shape) without end."""
    count = dict.fromkeys(MAKERS, 0)
    while True:
        for operation in TURN:
            shape = MAKERS[operation](count[operation])
            count[operation] += 1
            if operation == "gemm_fp8":  # both sides are multiples of 16 there
                shape["n"], shape["k"] = (max(64, shape[side] // 16 * 16) for side in ("n", "k"))
            yield operation, shape


def loads(shape):
    """Rows that each expert gets: tokens choose experts by turns, or by weights that fall as a power law, without one twice."""
    experts, tokens, topk = shape["experts"], shape["tokens"], shape["topk"]
    if shape["distribution"] == "balanced":
        rows = tokens * topk
        return [rows // experts + (e < rows % experts) for e in range(experts)]
    weights = [(e + 1) ** -1.2 for e in range(experts)]
    out, left = [0] * experts, tokens * topk
    while left:  # what would go beyond a row a token goes to the experts that still have room
        open_weight = sum(w for w, rows in zip(weights, out) if rows < tokens)
        given = 0
        for e in range(experts):
            if out[e] < tokens and given < left:
                more = min(tokens - out[e], max(1, round(left * weights[e] / open_weight)), left - given)
                out[e] += more
                given += more
        left -= given
    return out
