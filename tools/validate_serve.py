#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Errors of `plumbline arch serve` on whole models that were served end to end.

  tools/validate_serve.py --plumbline build/release/plumbline --rows whole_models.csv.gz [--hold-out] [--check] [--json FILE]

The rows are the public table of end-to-end measurements (docs/accuracy.md says which). Models are described below by the
facts of their published config.json. A row is refused where the tool refuses it, and where it cannot be said with --tp and
--ep. Beside the prediction stand a roofline (the same sum of data-sheet times) and the decode step alone. --hold-out chooses
the framework's constants and the bands on all models but one and judges the one."""
import argparse
import collections
import concurrent.futures
import csv
import gzip
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

LLAMA = {"model_type": "llama", "num_key_value_heads": 8, "vocab_size": 128256}
DEEPSEEK = {"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128,
            "num_key_value_heads": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256,
            "num_experts_per_tok": 8, "n_shared_experts": 1, "first_k_dense_replace": 3, "q_lora_rank": 1536,
            "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 129280}
KIMI = dict(DEEPSEEK, model_type="kimi_k2", num_attention_heads=64, num_key_value_heads=64, n_routed_experts=384,
            first_k_dense_replace=1, vocab_size=163840)
BLOCKS = {"quant_method": "fp8", "weight_block_size": [128, 128]}
NVFP4 = {"quant_method": "modelopt", "quant_algo": "NVFP4", "exclude_modules": ["lm_head", "*self_attn*"],
         "kv_cache_quant_algo": "FP8"}
INT4 = {"quant_method": "compressed-tensors", "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*",
                                                         "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"],
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "group_size": 32}}}}
MODELS = {
    "meta-llama/Llama-3.1-70B": dict(LLAMA, hidden_size=8192, num_hidden_layers=80, num_attention_heads=64,
                                     intermediate_size=28672),
    "nvidia/Llama-3.1-8B-Instruct-FP8": dict(LLAMA, hidden_size=4096, num_hidden_layers=32, num_attention_heads=32,
                                             intermediate_size=14336),
    "nvidia/Qwen3-32B-NVFP4": {"model_type": "qwen3", "hidden_size": 5120, "num_hidden_layers": 64, "num_attention_heads": 64,
                               "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 25600, "vocab_size": 151936},
    "Qwen/Qwen3-235B-A22B-FP8": {"model_type": "qwen3_moe", "hidden_size": 4096, "num_hidden_layers": 94,
                                 "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 128,
                                 "intermediate_size": 12288, "moe_intermediate_size": 1536, "num_experts": 128,
                                 "num_experts_per_tok": 8, "vocab_size": 151936, "quantization_config": BLOCKS},
    "deepseek-ai/DeepSeek-R1": DEEPSEEK, "deepseek-ai/DeepSeek-V3": DEEPSEEK, "nvidia/DeepSeek-R1-NVFP4": DEEPSEEK,
    "nvidia/DeepSeek-V3.1-NVFP4": DEEPSEEK, "moonshotai/Kimi-K2.5": KIMI,
}
SYSTEMS = {"h100_sxm": "h100", "h200_sxm": "h200", "b200_sxm": "b200", "a100_sxm": "a100", "l40s": "l40s"}
DENSE = {"fp8": "fp8", "fp4": "nvfp4", "bf16": "bf16"}


def described(row):
    """The config.json and the options that the row stands for, or why there are none."""
    model = MODELS.get(row["model_path"])
    if model is None:
        return None, "the model's attention was not measured (an indexer chooses its keys)"
    if row["backend"] != "vllm":
        return None, f"no kernels of {row['backend']} were measured"
    tp, expert_tp, ep = (int(row[k]) for k in ("tp_size", "moe_tp_size", "moe_ep_size"))
    config = dict(model)
    options = ["--tp", str(tp)]
    if "n_routed_experts" in model or "num_experts" in model:
        if expert_tp * ep != tp:
            return None, "attention is not laid over the same GPUs as the experts"
        options += ["--ep", str(ep)]
        if "n_routed_experts" in model:
            config["quantization_config"] = {"fp4": NVFP4, "int4": INT4, "fp8": BLOCKS}[row["precision"]]
    else:
        options += ["--dtype", DENSE[row["precision"]]]
    options += ["--hardware", SYSTEMS[row["system"]], "--source", row["backend"], "--isl", row["isl"], "--osl", row["osl"],
                "--concurrency", row["batch_size"]]
    return (json.dumps(config), tuple(options)), ""


class Server:
    """Asks the tool each distinct question once, on as many threads as there are processors."""

    def __init__(self, binary):
        self.binary = binary
        self.folder = tempfile.TemporaryDirectory()
        self.files = {}

    def ask(self, question):
        config, options = question
        result = subprocess.run([self.binary, "--json", "arch", "serve", "--hf", self.files[config], *options],
                                capture_output=True, text=True)
        if result.returncode != 0:
            return None, result.stderr.strip().splitlines()[0].split(": ", 2)[-1]
        return json.loads(result.stdout), ""

    def answers(self, questions):
        questions = sorted(set(questions))
        for config in {q[0] for q in questions}:
            path = pathlib.Path(self.folder.name) / f"{len(self.files)}.json"
            path.write_text(config)
            self.files[config] = str(path)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            return dict(zip(questions, pool.map(self.ask, questions)))


def impossible(row, answer):
    """Does the row take less time than the data sheet's rates need for its prompts and tokens?"""
    tokens, tpot, ttft = int(row["osl"]), float(row["silicon_tpot_ms"]), float(row["silicon_ttft_ms"])
    return ttft + tokens * tpot < answer["roofline_tpot_ms"] * tokens


def quantile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(p * len(values)))] if values else float("nan")


def kendall(pairs):
    agree = total = 0
    for i, (a, x) in enumerate(pairs):
        for b, y in pairs[:i]:
            if a != b and x != y:
                total += 1
                agree += 1 if (a < b) == (x < y) else -1
    return agree / total if total else float("nan")


def kind_of(row):
    if "Llama" in row["model_path"] or "Qwen3-32B" in row["model_path"]:
        return "dense, one GPU" if row["tp_size"] == "1" else "dense, several GPUs"
    return "experts and latent attention"


def line_of(name, judged):
    tpot = [abs(j["tpot"]) for j in judged]
    ttft = [abs(j["ttft"]) for j in judged]
    by_model = collections.defaultdict(list)
    for j in judged:
        by_model[j["row"]["model_path"], j["row"]["system"], j["row"]["precision"]].append(
            (j["answer"]["tpot_ms"], float(j["row"]["silicon_tpot_ms"])))
    tau = statistics.median(kendall(pairs) for pairs in by_model.values())
    return [name, len(judged), *(round(100 * v, 1) for v in (quantile(tpot, .5), quantile(tpot, .9),
                                                             statistics.median(j["tpot"] for j in judged),
                                                             quantile(ttft, .5), quantile(ttft, .9))),
            round(tau, 3), round(100 * statistics.mean(j["inside"] for j in judged)),
            round(100 * statistics.mean(j["ttft_inside"] for j in judged)),
            *(round(100 * quantile([abs(j[k]) for j in judged], .5), 1) for k in ("roofline", "decode"))]


# Median |error| in per cent that TPOT and TTFT may reach.
BARS = {"dense, one GPU": (4, 25), "dense, several GPUs": (8, 25), "experts and latent attention": (12, 25)}
HEAD = ["rows", "n", "TPOT median", "p90", "bias", "TTFT median", "p90", "tau", "TPOT in band", "TTFT in band", "roofline",
        "decode alone"]


def table(lines):
    rows = [HEAD] + [[str(c) for c in line] for line in lines]
    widths = [max(len(r[i]) for r in rows) for i in range(len(HEAD))]
    for i, row in enumerate(rows):
        print("| " + " | ".join(c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths))) + " |")
        if i == 0:
            print("|" + "|".join("-" * (w + 1) + (":" if k else "-") for k, w in enumerate(widths)) + "|")


def judge(row, answer):
    tpot, ttft = float(row["silicon_tpot_ms"]), float(row["silicon_ttft_ms"])
    return {"row": row, "answer": answer, "tpot": answer["tpot_ms"] / tpot - 1, "ttft": answer["ttft_ms"] / ttft - 1,
            "inside": answer["tpot_low_ms"] <= tpot <= answer["tpot_high_ms"],
            "ttft_inside": answer["ttft_low_ms"] <= ttft <= answer["ttft_high_ms"],
            "roofline": answer["roofline_tpot_ms"] / tpot - 1, "decode": answer["decode_step"]["ms"] / tpot - 1}


def hold_out(judged):
    """Constants and bands chosen without a model, and how they do on it."""
    print("\nheld out by model: constants and bands chosen on the other models alone")
    models = sorted({j["row"]["model_path"] for j in judged})
    lines = []
    for model in models:
        others = [j for j in judged if j["row"]["model_path"] != model]
        own = [j for j in judged if j["row"]["model_path"] == model]
        if not others:
            continue

        def tpot(j, step_ms):
            return j["answer"]["tpot_ms"] - j["answer"]["tpot_parts_ms"]["framework"] + step_ms

        def ttft(j, first_ms):
            return j["answer"]["ttft_ms"] - j["answer"]["ttft_parts_ms"]["framework"] + first_ms

        def error(value, j, key):
            return abs(math.log(value / float(j["row"][key])))

        step = min((s / 10 for s in range(16)), key=lambda s: quantile(
            [error(tpot(j, s), j, "silicon_tpot_ms") for j in others], .5))
        first = min(range(0, 101, 5), key=lambda s: quantile(
            [error(ttft(j, s), j, "silicon_ttft_ms") for j in others], .5))
        half = quantile([error(tpot(j, step), j, "silicon_tpot_ms") for j in others], .9)
        own_tpot = [error(tpot(j, step), j, "silicon_tpot_ms") for j in own]
        own_ttft = [error(ttft(j, first), j, "silicon_ttft_ms") for j in own]
        lines.append((model, len(own), step, first, half, quantile(own_tpot, .5), quantile(own_ttft, .5),
                      statistics.mean(e <= half for e in own_tpot)))
    print("| model | rows | step_us | first_token_us | half-width | TPOT median | TTFT median | in band |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for m, n, s, f, h, a, b, c in lines:
        print(f"| {m} | {n} | {1000 * s:.0f} | {1000 * f:.0f} | {h:.2f} | {100 * a:.1f} % | {100 * b:.1f} % | {100 * c:.0f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plumbline", default="build/release/plumbline")
    parser.add_argument("--rows", required=True)
    parser.add_argument("--hold-out", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="ask every n-th row that can be asked")
    parser.add_argument("--check", action="store_true", help="end with 1 where a median is above its bar")
    parser.add_argument("--json")
    args = parser.parse_args()
    opener = gzip.open if args.rows.endswith(".gz") else open
    with opener(args.rows, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    asked, refused = [], collections.Counter()
    for row in rows:
        question, reason = described(row)
        if question is None:
            refused[reason] += 1
        else:
            asked.append((row, question))
    asked = asked[::args.every]
    answers = Server(args.plumbline).answers([q for _, q in asked])
    judged, beyond = [], []
    for row, question in asked:
        answer, reason = answers[question]
        if answer is None:
            refused[reason] += 1
        else:
            (beyond if impossible(row, answer) else judged).append(judge(row, answer))
    print(f"{len(rows)} rows: {len(judged)} judged, {len(beyond)} take less time than the data sheet allows, "
          f"{sum(refused.values())} refused")
    for reason, count in refused.most_common():
        print(f"  {count:5}  {reason}")
    groups = collections.defaultdict(list)
    for j in judged:
        r = j["row"]
        groups[f"{r['model_path'].split('/')[-1]}, {r['precision']}, {r['system']} x {r['tp_size']}, "
               f"{r['backend']} {r['backend_version']}".strip()].append(j)
    kinds = collections.defaultdict(list)
    for j in judged:
        kinds[kind_of(j["row"])].append(j)
    print("\nerrors in per cent of what was measured; bands are claimed at 90 %")
    table([line_of(k, v) for k, v in sorted(kinds.items())] + [line_of("all", judged)])
    print()
    table([line_of(k, v) for k, v in sorted(groups.items())])
    if args.hold_out:
        hold_out(judged)
    if args.check:
        missed = [f"{k}: {name} is {100 * value:.1f} %, and may be {bar} %" for k, (tpot, ttft) in BARS.items() if kinds[k]
                  for name, key, bar in (("TPOT", "tpot", tpot), ("TTFT", "ttft", ttft))
                  if 100 * (value := quantile([abs(j[key]) for j in kinds[k]], .5)) > bar]
        print("\n".join(missed) or "\nevery median is within its bar")
        if missed or not judged:
            raise SystemExit(1)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(
            [{k: v for k, v in j.items()} for j in judged + beyond]))


if __name__ == "__main__":
    main()
