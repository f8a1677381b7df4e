import torch
from bench import prep

torch.cuda.profiler.start()
prep({})
