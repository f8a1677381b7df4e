# SPDX-License-Identifier: Apache-2.0
"""A program that the recorder is injected into: the same five launches a call, by themselves or as the nodes of a CUDA graph.
Usage: graphs.py eager|graph|inside|mixed|streams [--calls 20] [--nodes 1] [--nvtx]"""
import argparse

import torch

import plumbline

KERNELS = 4  # and one copy


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("how", choices=["eager", "graph", "inside", "mixed", "streams"])
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=1, help="times that the work stands in the graph")
    parser.add_argument("--nvtx", action="store_true")
    options = parser.parse_args()
    x = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    y, z, kept = torch.empty_like(x), torch.empty_like(x), torch.empty_like(x)
    side = torch.cuda.Stream()

    def work():
        torch.mm(x, x, out=y)
        torch.add(y, 1.0, out=z)
        torch.relu_(z)
        torch.softmax(z, -1, out=y)
        kept.copy_(y)

    def forked():
        main_stream = torch.cuda.current_stream()
        side.wait_stream(main_stream)
        with torch.cuda.stream(side):
            torch.add(x, 1.0, out=z)
        torch.mm(x, x, out=y)
        main_stream.wait_stream(side)
    body = forked if options.how == "streams" else work

    def capture():
        warm = torch.cuda.Stream()
        warm.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(warm):
            body()
        torch.cuda.current_stream().wait_stream(warm)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(options.nodes):
                body()
        return graph
    for _ in range(3):
        body()
    graph = capture() if options.how in ("graph", "mixed", "streams") else None
    torch.cuda.synchronize()
    plumbline.record_calls(options.calls)
    if options.nvtx:
        torch.cuda.nvtx.range_push("replays")
    else:
        torch.cuda.profiler.start()
    if options.how == "inside":
        graph = capture()  # its warm-up call is recorded as well
    for _ in range(options.calls):
        if graph is not None:
            graph.replay()
        if options.how in ("eager", "mixed"):
            body()
    torch.cuda.synchronize()
    if options.nvtx:
        torch.cuda.nvtx.range_pop()
    else:
        torch.cuda.profiler.stop()
    if graph is not None:
        graph.replay()  # outside: not recorded
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
