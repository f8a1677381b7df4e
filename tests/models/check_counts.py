#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts of real models, from facts in models.tsv, against the sum over their tensors.

  tests/models/check_counts.py BINARY [--every N] [NAME…]

A row is a model: its name, the published number of parameters (or -), its family and the fields of its config.json.
The script writes each config.json, enumerates the tensors that such a checkpoint holds (shapes by name, in the order of
a state dict; nothing here is shared with the C++ formulas) and compares parameters, active parameters and cache bytes."""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SHORT = {"h": "hidden_size", "L": "num_hidden_layers", "a": "num_attention_heads", "k": "num_key_value_heads",
         "d": "head_dim", "f": "intermediate_size", "v": "vocab_size", "tie": "tie_word_embeddings"}

# What a family's tensors are: LN weight and bias (ln), no gate (plain), biases (qkv, o, mlp, head), tied by default.
FAMILY = {
    "gpt2": "ln plain qkv o mlp tied pos", "gpt_bigcode": "ln plain qkv o mlp tied pos mqa", "gptj": "ln plain mlp one head",
    "gpt_neox": "ln plain qkv o mlp", "opt": "ln plain qkv o mlp tied pos", "bloom": "ln plain qkv o mlp tied embnorm",
    "mpt": "plain tied", "phi": "ln plain qkv o mlp head one", "falcon": "ln plain tied", "starcoder2": "ln plain qkv o mlp tied",
    "stablelm": "ln", "olmo": "nonorm", "olmo2": "qkfull", "olmo3": "qkfull", "olmoe": "qkfull", "gemma": "tied",
    "gemma2": "tied four", "gemma3_text": "tied four qkhead", "qwen2": "qkv", "mimo": "qkv", "qwen2_moe": "qkv sgate",
    "qwen3": "qkhead", "qwen3_moe": "qkhead", "cohere": "tied one", "smollm3": "tied", "minicpm": "tied",
    "gpt_oss": "qkv o sinks rbias ebias", "phimoe": "ln", "minimax_m2": "qkfull score", "deepseek_v3": "score",
    "kimi_k2": "score", "nemotron": "ln plain", "chatglm": "", "glm4": "four", "glm4_moe": "score", "ernie4_5": "tied",
    "exaone4": "qkhead", "orion": "ln", "glm_moe_dsa": "score", "deepseek_v32": "score", "arcee": "plain", "granitemoe": "tied",
    "ernie4_5_moe": "tied score", "cohere2": "tied one", "dots1": "qkhead score",
}


def config_of(fields):
    family, config = fields[0], {"model_type": fields[0]}
    for field in fields[1:]:
        key, text = field.split("=", 1)
        key = SHORT.get(key, key)
        value = bool(int(text)) if key == "tie_word_embeddings" else json.loads(text)
        at = config
        for part in key.split(".")[:-1]:
            at = at.setdefault(part, {})
        at[key.split(".")[-1]] = value
    return family, config


def first(config, *keys, default=None):
    for key in keys:
        at = config
        for part in key.split("."):
            at = at.get(part) if isinstance(at, dict) else None
        if at is not None:
            return at
    return default


def attention(c, t, h, heads, kv, dim):
    """Tensors of one layer's attention, and the elements that a token caches."""
    if c.get("kv_lora_rank"):
        rank, nope, rope, value = c["kv_lora_rank"], c["qk_nope_head_dim"], c["qk_rope_head_dim"], c["v_head_dim"]
        if c.get("q_lora_rank"):
            yield "q_a", (c["q_lora_rank"], h)
            yield "q_a_norm", (c["q_lora_rank"],)
            yield "q_b", (heads * (nope + rope), c["q_lora_rank"])
        else:
            yield "q", (heads * (nope + rope), h)
        yield "kv_a", (rank + rope, h)
        yield "kv_a_norm", (rank,)
        yield "kv_b", (heads * (nope + value), rank)
        yield "o", (h, heads * value)
        if c.get("index_n_heads"):
            yield "indexer.wq_b", (c["index_n_heads"] * c["index_head_dim"], c["q_lora_rank"])
            yield "indexer.wk", (c["index_head_dim"], h)
            yield "indexer.k_norm", (2, c["index_head_dim"])
            yield "indexer.weights", (c["index_n_heads"], h)
        return
    for name, width in (("q", heads * dim), ("k", kv * dim), ("v", kv * dim)):
        yield name, (width, h)
        if "qkv" in t:
            yield name + ".bias", (width,)
    yield "o", (h, heads * dim)
    if "o" in t:
        yield "o.bias", (h,)
    if "qkhead" in t:
        yield "q_norm", (dim,)
        yield "k_norm", (dim,)
    if "qkfull" in t:
        yield "q_norm", (heads * dim,)
        yield "k_norm", (kv * dim,)
    if "sinks" in t:
        yield "sinks", (heads,)


def mlp(t, h, f, name="mlp"):
    for part in (("up", "down") if "plain" in t else ("gate", "up", "down")):
        yield f"{name}.{part}", ((h, f) if part == "down" else (f, h))
        if "mlp" in t:
            yield f"{name}.{part}.bias", ((h,) if part == "down" else (f,))


def traits(c, family):
    t = set(FAMILY.get(family, "").split())
    if c.get("attention_bias") is True or (family == "internlm2" and c.get("bias")):
        t |= {"qkv"} if family in ("glm", "glm4", "glm4_moe", "seed_oss") else {"qkv", "o"}
    if c.get("attention_out_bias"):
        t.add("o")
    if c.get("add_qkv_bias") or c.get("use_qkv_bias"):
        t.add("qkv")
    if c.get("use_qk_norm") and family == "cohere":
        t.add("qkfull")
    if c.get("lm_head_bias"):
        t.add("head")
    if family == "falcon":
        t |= {"one"} if c.get("parallel_attn") and not c.get("new_decoder_architecture") else set()
        if c.get("bias"):
            t |= {"qkv", "o", "mlp"}
    if family == "stablelm" and c.get("use_parallel_residual"):
        t.add("one")
    if c.get("mlp_bias"):
        t.add("mlp")
    return t


def tensors(c, family):
    """(name, shape, share that one token uses) of every tensor, and the cached elements a token."""
    t = traits(c, family)
    h = first(c, "hidden_size", "n_embd", "d_model")
    layers = first(c, "num_hidden_layers", "n_layer", "n_layers", "num_layers")
    heads = first(c, "num_attention_heads", "n_head", "n_heads")
    kv = first(c, "num_key_value_heads", "num_kv_heads", "attn_config.kv_n_heads", "multi_query_group_num", default=heads)
    if "mqa" in t or (family == "falcon" and c.get("multi_query") and not c.get("new_decoder_architecture")):
        kv = 1
    dim = first(c, "head_dim", "kv_channels", default=h // heads)
    f = first(c, "intermediate_size", "ffn_dim", "ffn_hidden_size", "n_inner", "ffn_config.ffn_hidden_size", default=4 * h)
    vocab = first(c, "vocab_size", "padded_vocab_size")
    experts = first(c, "num_local_experts", "num_experts", "n_routed_experts", "ffn_config.moe_num_experts", default=0)
    active = first(c, "num_experts_per_tok", "ffn_config.moe_top_k", default=0)
    width = first(c, "moe_intermediate_size", default=f)
    shared = first(c, "shared_expert_intermediate_size", default=(c.get("n_shared_experts") or 0) * width)
    norms = 1 if "one" in t else 4 if "four" in t else 2
    norm = (2, h) if "ln" in t else (h,) if "nonorm" not in t else (0,)
    wide = c.get("word_embed_proj_dim", h)
    out = [("embed", (vocab, wide), 1.0)]
    if wide != h:
        out += [("project_in", (h, wide), 1.0), ("project_out", (wide, h), 1.0)]
    if "pos" in t:
        out.append(("positions", (first(c, "n_positions", "max_position_embeddings") + (2 if family == "opt" else 0), h), 1.0))
    if "embnorm" in t:
        out.append(("embed_norm", norm, 1.0))
    for i in range(layers):
        out += [(f"{i}.{n}", shape, 1.0) for n, shape in attention(c, t, h, heads, kv, dim)]
        out += [(f"{i}.norm{n}", norm, 1.0) for n in range(norms)]
        if not experts or i < c.get("first_k_dense_replace", 0):
            out += [(f"{i}.{n}", shape, 1.0) for n, shape in mlp(t, h, f)]
            continue
        out.append((f"{i}.router", (experts, h), 1.0))
        if "rbias" in t or "score" in t:
            out.append((f"{i}.router.bias", (experts,), 1.0))
        for e in range(experts):
            used = 1.0 if e < active else 0.0
            out += [(f"{i}.{n}", shape, used) for n, shape in mlp(t | ({"mlp"} if "ebias" in t else set()), h, width, f"expert{e}")]
        if shared:
            out += [(f"{i}.{n}", shape, 1.0) for n, shape in mlp(t, h, shared, "shared")]
        if "sgate" in t:
            out.append((f"{i}.shared_gate", (1, h), 1.0))
    if c.get("do_layer_norm_before", True):
        out.append(("norm", norm, 1.0))
    if not c.get("tie_word_embeddings", "tied" in t):
        out.append(("lm_head", (vocab, wide), 1.0))
    if "head" in t:
        out.append(("lm_head.bias", (vocab,), 1.0))
    cached = layers * ((c["kv_lora_rank"] + c["qk_rope_head_dim"]) if c.get("kv_lora_rank") else 2 * kv * dim)
    return out, cached


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--every", type=int, default=1, help="only every Nth model")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    binary, names = options.binary, set(options.names)
    wrong, checked, published_count, seen = [], 0, 0, {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "config.json"
        models = [line for line in (HERE / "models.tsv").read_text().splitlines() if line and not line.startswith("#")]
        for line in models[::options.every]:
            name, published, facts = line.split("\t")
            if names and name not in names:
                continue
            family, config = config_of(facts.split())
            config.pop("active", None)
            path.write_text(json.dumps(config, indent=1))
            checked += 1
            if facts in seen:  # the same fields give the same answer: only the published total is another's
                if published != "-":
                    published_count += 1
                    if seen[facts] != int(published):
                        wrong.append(f"{name}: the tensors sum to {seen[facts]}, published are {published}")
                continue
            done = subprocess.run([binary, "--json", "arch", "predict", "--hardware", "a100", "--model", "proxy", "--hf", path],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                wrong.append(f"{name}: refused: {done.stderr.splitlines()[0]}")
                continue
            got = json.loads(done.stdout)
            listed, cached = tensors(config, family)
            total = sum(math.prod(shape) for _, shape, _ in listed)
            used = sum(math.prod(shape) for _, shape, share in listed if share)
            seen[facts] = total
            expected = {"parameters": total, "active_parameters": used, "kv_bytes_per_token": 2 * cached}
            if published != "-":
                published_count += 1
                if total != int(published):
                    wrong.append(f"{name}: the tensors sum to {total}, published are {published}")
            for key, value in expected.items():
                if got[key] != value:
                    wrong.append(f"{name}: {key} {got[key]}, the tensors say {value}")
            if (got["total_ms"] is None) != (got["untimed"] is not None):
                wrong.append(f"{name}: a null time without its reason, or the other way round")
    print("\n".join(wrong))
    print(f"{checked} models, {len(seen)} of them with fields of their own, {published_count} with published totals, "
          f"{len(wrong)} differences")
    return 1 if wrong or checked == 0 or (not names and len(seen) < 300 // options.every) else 0


if __name__ == "__main__":
    sys.exit(main())
