import torch
from bench import make_inputs, prep

inputs = make_inputs(2, 2048)
torch.cuda.profiler.start()
inputs.update(prep(inputs))
torch.cuda.profiler.stop()
