#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random spaces: `arch search` against every shape costed one by one by `arch rank`. random_spaces.py PLUMBLINE [SPACES [MOST]]

The brute force shares no code with the search's engine: Python lists the shapes and applies the constraints, `arch rank`
times each layer, and Python sorts and finds the front and, of spaces with uncertain losses, what nothing dominates at 90 %. With threads 1, 2 and 8 the artifact has to be the same bytes.
"""
import bisect
import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

FIELDS = ("hidden_dim", "num_heads", "num_kv_heads", "head_dim", "ffn_dim", "window_size")


def draw(seed, most):
    rng = random.Random(seed)

    def some(low, high, step, count):
        return sorted(rng.sample(range(low, high + 1, step), count))
    limit = rng.randint(most // 20, most)
    dims = {"hidden_dim": some(256, 8192, rng.choice([32, 64, 100]), rng.randint(2, 12)),
            "head_dim": sorted(rng.sample([32, 64, 80, 96, 128, 256], rng.randint(1, 3))),
            "num_kv_heads": sorted(rng.sample([1, 2, 3, 4, 8], rng.randint(1, 3))),
            "group": sorted(rng.sample([1, 2, 3, 4, 8], rng.randint(1, 3))),
            "window_size": [0] if rng.random() < 0.6 else [128, 512]}
    size = 1
    for v in dims.values():
        size *= len(v)
    dims["ffn_dim"] = some(512, 32768, 8, max(2, min(400, limit // size)))
    low = rng.uniform(0.5, 3)
    tests = {"ratio": f"{low:.3f} <= ffn_dim / hidden_dim <= {low + rng.uniform(0.5, 5):.3f}"}
    if rng.random() < 0.5:
        tests["width"] = "num_heads * head_dim <= 2 * hidden_dim"
    if rng.random() < 0.5:
        tests["even"] = f"(hidden_dim + ffn_dim) % {rng.choice([16, 64])} == 0"
    s = {"dims": dims, "tests": tests, "top": rng.randint(1, 60), "seq_len": rng.choice([128, 700, 2048]),
            "phase": rng.choice(["prefill", "prefill", "decode"]), "batch": rng.choice([1, 4, 33]), "front": rng.random() < 0.6, "losses": {}}
    if rng.random() < 0.4:  # a table of losses, some of them exact, some unknown
        noise = rng.choice([0.01, 0.1])
        for h, f in itertools.product(dims["hidden_dim"], dims["ffn_dim"]):
            if rng.random() < 0.9:
                s["losses"][h, f] = (round(rng.gauss(2 + 300 / (h + f) ** 0.5, noise), 3), rng.choice([0, round(noise * rng.random(), 4)]))
    return s


def space_text(s):
    out = ["[dimensions]", *(f"{n} = {v}" for n, v in s["dims"].items()), "[derived]", 'num_heads = "group * num_kv_heads"',
           "[constraints]", *(f'{n} = "{t}"' for n, t in s["tests"].items()), "[[point]]", 'name = "a"', f'phase = "{s["phase"]}"',
           f'seq_len = {s["seq_len"]}', f'batch_size = {s["batch"]}', "[[hardware]]", 'name = "h200"', 'source = "pytorch"',
           "[objective]", 'minimise = "a_ms"', f'top = {s["top"]}']
    if s["losses"]:
        out += ['front = ["a_ms", "loss"]', "[quality]", 'csv = "losses.csv"']
    elif s["front"]:
        out.append('front = ["a_ms", { maximise = "parameters" }]')
    return "\n".join(out) + "\n"


def allowed(s):
    """(number, shape) of every shape that the constraints allow."""
    tests = [compile(t, "t", "eval") for t in s["tests"].values()]
    for number, values in enumerate(itertools.product(*s["dims"].values())):
        v = dict(zip(s["dims"], values))
        v["num_heads"] = v["group"] * v["num_kv_heads"]
        if s["losses"] and (v["hidden_dim"], v["ffn_dim"]) not in s["losses"]:
            continue
        if all(eval(t, {}, v) for t in tests):  # pylint: disable=eval-used
            yield number, v


def least_two(shapes):
    """Of each beginning of `shapes` the two least (loss at most, number)."""
    out, best = [[]], []
    for number, most in shapes:
        best = sorted([*best, (most, number)])[:2]
        out.append(best)
    return out


def check_undominated(answer, times, losses, slack):
    """The set that nothing dominates at 90 %. A time within `slack` of another, and losses that are just apart, may go either way."""
    z, hair = 1.2815515655446004, 1e-9
    most = {n: losses[n][0] + z * losses[n][1] for n in times}
    least = {n: losses[n][0] - z * losses[n][1] for n in times}
    order = sorted(times, key=lambda n: times[n])
    sorted_times = [times[n] for n in order]
    lowest = least_two([(n, most[n]) for n in order])

    def others(n, place):
        return next((m for m, number in lowest[place] if number != n), float("inf"))
    equal = {}
    for n, time in times.items():
        equal[time] = min(equal.get(time, float("inf")), most[n])
    surely, possibly = set(), set()
    for n, time in times.items():
        if min(others(n, bisect.bisect_left(sorted_times, time - 2 * slack)), equal[time]) < least[n] - hair:
            surely.add(n)
        if others(n, bisect.bisect_right(sorted_times, time + 2 * slack)) <= least[n] + hair:
            possibly.add(n)
    said = answer["undominated_90"]
    listed = {b["number"] for b in said["listed"]}
    members = listed | {f["number"] for f in answer["front"]}
    assert len(said["listed"]) == min(1000, said["uncertain_only"]) == len(listed) and said["on_front"] == len(answer["front"])
    assert said["shapes"] == said["on_front"] + said["uncertain_only"], said["rule"]
    assert not members & surely, f"dominated: {members & surely}"
    assert len(times) - len(possibly) <= said["shapes"] <= len(times) - len(surely), said["shapes"]
    worst = times[said["listed"][-1]["number"]] if len(listed) < said["uncertain_only"] else float("inf")
    left_out = [n for n in times if n not in members and n not in possibly and times[n] < worst - 2 * slack]
    assert not left_out, f"nothing dominates {left_out[:3]}"
    for f in answer["front"]:
        assert f["front"][1] == losses[f["number"]][0]
    return said["uncertain_only"]


def brute(plumbline, s, folder):
    """Milliseconds of every allowed shape, by number, and their parameters."""
    shapes = list(allowed(s))
    if not shapes:
        return {}, {}
    path = folder / "layers.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write("name," + ",".join(FIELDS) + ",seq_len,batch_size,phase\n")
        for n, v in shapes:
            file.write(f"{n}," + ",".join(str(v[f]) for f in FIELDS) + f",{s['seq_len']},{s['batch']},{s['phase']}\n")
    done = subprocess.run([plumbline, "--json", "arch", "rank", "--hardware", "h200", "--source", "pytorch", "--configs", path,
                           "--top", str(len(shapes))], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    times = {int(row["name"]): row["total_ms"] * 1e9 for row in json.loads(done.stdout)}
    count = {n: v["hidden_dim"] * 2 * (v["num_heads"] + v["num_kv_heads"]) * v["head_dim"] + 3 * v["hidden_dim"] * v["ffn_dim"] +
             2 * v["hidden_dim"] for n, v in shapes}
    return times, count


def check(plumbline, seed, most):
    s = draw(seed, most)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = "".join(f"{h},{f},{loss},{error}\n" for (h, f), (loss, error) in s["losses"].items())
        (folder / "losses.csv").write_text("hidden_dim,ffn_dim,loss,stderr\n" + rows, encoding="utf-8")
        (folder / "s.toml").write_text(space_text(s), encoding="utf-8")
        texts = []
        for threads in ("1", "2", "8"):
            done = subprocess.run([plumbline, "--json", "arch", "search", folder / "s.toml", "--threads", threads],
                                  capture_output=True, text=True)
            assert done.returncode in (0, 1), done.stderr
            texts.append(done.stdout)
        assert texts[0] == texts[1] == texts[2], f"seed {seed}: threads change the answer"
        answer = json.loads(texts[0])
        times, parameters = brute(plumbline, s, folder)
    # Each kernel is rounded to a picosecond: ten kernels may differ from an unrounded sum by 5 ps, which reorders near ties.
    slack = 6
    best = answer["best"]
    assert len(best) == min(s["top"], len(times)), f"seed {seed}: {len(best)} shapes of {len(times)}"
    for b in best:
        assert abs(b["objective"] * 1e9 - times[b["number"]]) <= slack, f"seed {seed}: {b['number']}"
    if best:
        last = best[-1]["objective"] * 1e9
        listed = {b["number"] for b in best}
        better = [n for n, t in times.items() if n not in listed and t < last - 2 * slack]
        assert not better or len(times) == len(best), f"seed {seed}: left out {better[:3]}"
    if s["losses"]:
        shapes = dict(allowed(s))
        losses = {n: s["losses"][shapes[n]["hidden_dim"], shapes[n]["ffn_dim"]] for n in times}
        uncertain = any(error > 0 for _, error in s["losses"].values())
        assert uncertain == ("undominated_90" in answer), f"seed {seed}"
        if uncertain and best:
            return answer["shapes"]["space"], len(times), check_undominated(answer, times, losses, slack)
    elif s["front"]:
        front = {f["number"]: (f["front"][0] * 1e9, f["front"][1]) for f in answer["front"]}
        for n, (t, p) in front.items():
            assert abs(t - times[n]) <= slack and p == parameters[n], f"seed {seed}: front {n}"
        steps = sorted(front.values())
        for n, t in times.items():
            covered = any(ft <= t + 2 * slack and fp >= parameters[n] for ft, fp in steps)
            assert covered, f"seed {seed}: shape {n} is dominated by no point of the front"
        for (a, p), (b, q) in itertools.pairwise(steps):
            assert q > p, f"seed {seed}: a point of the front is dominated"
    return answer["shapes"]["space"], len(times), 0


def main():
    spaces = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
    total = allowed_total = empty = beside = uncertain = 0
    for seed in range(1, spaces + 1):
        size, count, kept = check(sys.argv[1], seed, most)
        total, allowed_total, empty = total + size, allowed_total + count, empty + (count == 0)
        beside, uncertain = beside + kept, uncertain + (kept > 0)
    print(f"{spaces} spaces, {total} shapes, {allowed_total} of them allowed and costed one by one, {empty} spaces empty; "
          f"{beside} shapes of {uncertain} spaces stay only because their loss is uncertain: all equal")


if __name__ == "__main__":
    main()
