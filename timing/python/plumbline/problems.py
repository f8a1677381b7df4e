# SPDX-License-Identifier: Apache-2.0
"""What a card of a board's problem is made of while it runs: a module as a timed side, its inputs, and sets of them for a launch
script. `plumbline card init NAME --from PROBLEM` writes cards that use this.

A module's parameters, and its buffers, reach both sides as one tensor each: every storage behind them, one after the other. So a
contract lists them, each call of a window has its own, and what shares a storage (tied weights, the one buffer that cuDNN wants of an
LSTM) still does."""

from ._native import PlumblineError

CONSTRUCTION_SEED = 42  # with which both sides build their modules; parameters and buffers then come from make_inputs
_ALIGNMENT = 512
_MOST_SETS = 20
_SHARE_OF_MEMORY = 8    # sets of inputs for a launch script take at most this part of the GPU's memory


def _torch():
    import torch
    return torch


def _device(torch):
    return torch.device("cuda", torch.cuda.current_device())


def _refuse(message):
    return PlumblineError("problem", message)


def _on_device(torch, seed, make):
    """make() with every generator seeded, its tensors made on the GPU, or made by the host where it insists on that."""
    torch.manual_seed(seed)
    try:
        with _device(torch):
            return make()
    except (RuntimeError, TypeError):  # a generator or a tensor of the host's own
        torch.manual_seed(seed)
        return make()


def _arguments(problem):
    """(positional, named) arguments of the module: get_init_inputs() gives a list, or [a list, a dict]."""
    given = problem.get_init_inputs() if hasattr(problem, "get_init_inputs") else []
    if isinstance(given, dict):
        return [], given
    given = list(given)
    if len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], dict):
        return list(given[0]), given[1]
    return given, {}


def _build(module, name, problem, seed):
    """The module of that name, built on the GPU from one seed."""
    torch = _torch()

    def make():
        positional, named = _arguments(problem)
        torch.manual_seed(seed)
        return getattr(module, name)(*positional, **named)
    model = _on_device(torch, seed, make)
    if not isinstance(model, torch.nn.Module):
        raise _refuse("%s is not a torch.nn.Module" % name)
    device = _device(torch)
    model = model.to(device).requires_grad_(False)
    for part in model.modules():
        for key, value in list(vars(part).items()):  # plain tensors, which to() does not know
            if type(value) is torch.Tensor and value.device != device:
                setattr(part, key, value.to(device))
        _settle(torch, part)
    return model


def _settle(torch, part):
    """Dropout is off: a mask that is drawn anew cannot be compared. Recurrent layers keep the one storage of their weights."""
    if isinstance(part, torch.nn.modules.dropout._DropoutNd):
        part.eval()
    elif isinstance(part, torch.nn.MultiheadAttention):
        part.dropout = 0.0
    elif isinstance(part, torch.nn.RNNBase):
        part.dropout = 0.0
        part.flatten_parameters = lambda: None  # it would copy the weights away from where the inputs lie


class _Layout:
    """Where each tensor of a module lies in the one tensor that holds them all."""

    def __init__(self, entries):
        torch = _torch()
        self.storages, self.places, offsets, total = [], [], {}, 0
        for owner, key, tensor in entries:
            storage = tensor.untyped_storage()
            where = storage.data_ptr() or -1 - len(offsets)  # an empty one has no address
            if where not in offsets:
                offsets[where] = total
                self.storages.append((storage, total))
                total += -(-storage.nbytes() // _ALIGNMENT) * _ALIGNMENT
            self.places.append((owner, key, tensor.dtype, tuple(tensor.shape), tensor.stride(),
                                offsets[where] + tensor.storage_offset() * tensor.element_size()))
        self.nbytes = total
        kinds = {place[2] for place in self.places}
        # One dtype: then the tensor has it, and a copy in double precision is read as well.
        self.dtype = kinds.pop() if len(kinds) == 1 else torch.uint8
        self._last = None

    def pack(self):
        """The one tensor, on the GPU."""
        torch = _torch()
        device = _device(torch)
        packed = torch.zeros(self.nbytes, dtype=torch.uint8, device=device)
        for storage, offset in self.storages:
            flat = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
            packed[offset:offset + storage.nbytes()] = flat
        return packed.view(self.dtype)

    def place(self, state, what):
        """Lets the module use the tensors that lie in `state`."""
        if state is self._last:
            return
        views = getattr(state, "_plumbline_views", None)
        if views is None or views[0] is not self:
            views = state._plumbline_views = (self, self._views(state, what))
        for (owner, key, *_), view in zip(self.places, views[1]):
            owner[key] = view
        self._last = state

    def _views(self, state, what):
        torch = _torch()
        elements = self.nbytes // torch.empty(0, dtype=self.dtype).element_size()
        if state.numel() != elements:
            raise _refuse("this side's module holds %d bytes of %s, the reference's Model %d: parameters and buffers are handed over in "
                          "the order of their construction, and must be of the same shapes"
                          % (self.nbytes, what, state.numel() * state.element_size()))
        made, start = [], state.storage_offset() * state.element_size()
        for _, _, dtype, shape, stride, offset in self.places:
            if self.dtype != torch.uint8:  # by elements: `state` may be in double precision
                at = state.storage_offset() + offset // torch.empty(0, dtype=dtype).element_size()
                dtype = state.dtype
            else:
                at = (start + offset) // torch.empty(0, dtype=dtype).element_size()
            made.append(torch.empty(0, dtype=dtype, device=state.device).set_(state.untyped_storage(), at, shape, stride))
        return made


def _layouts(model):
    """(layout of the parameters, layout of the buffers)."""
    norms = _torch().nn.modules.batchnorm._NormBase
    parameters, buffers = [], []
    for part in model.modules():
        parameters += [(part._parameters, key, value) for key, value in part._parameters.items() if value is not None]
        if not isinstance(part, norms):  # running statistics, which training writes: they stay with the module
            buffers += [(part._buffers, key, value) for key, value in part._buffers.items() if value is not None]
    return _Layout(parameters), _Layout(buffers)


class ModuleSide:
    """A torch.nn.Module as a timed side. module: the Python module that holds class `name`; problem: the one that holds
    get_init_inputs() (default: `module`)."""

    def __init__(self, module, name, problem=None):
        self._torch = _torch()
        source = problem if problem is not None and not hasattr(module, "get_init_inputs") else module
        self.model = _build(module, name, source, CONSTRUCTION_SEED)
        self._parameters, self._buffers = _layouts(self.model)

    def __call__(self, *inputs, parameters=None, buffers=None):
        """forward(*inputs), with the parameters and buffers that lie in these tensors, where they are given."""
        if parameters is not None:
            self._parameters.place(parameters, "parameters")
        if buffers is not None:
            self._buffers.place(buffers, "buffers")
        with self._torch.no_grad():
            return self.model(*inputs)


def module_inputs(problem, names, seed, parameters=None, buffers=None):
    """The inputs of a module as a dict: what get_inputs() makes, under `names`; and under the names `parameters` and `buffers`, where
    given, those of a Model that is built from `seed`."""
    torch = _torch()
    state = {}
    if parameters or buffers:
        layouts = _layouts(_build(problem, "Model", problem, seed))
        state = {name: layout.pack() for name, layout in zip((parameters, buffers), layouts) if name}
    given = _on_device(torch, seed, problem.get_inputs)
    if isinstance(given, dict):
        given = [given[name] for name in names if name in given]
    given = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(given) != len(names):
        raise _refuse("get_inputs() makes %d inputs, forward() is given %s" % (len(given), ", ".join(names) or "none"))
    return dict(zip(names, (_plain(torch, name, value) for name, value in zip(names, given))), **state)


def _plain(torch, name, value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if not isinstance(value, torch.Tensor):
        raise _refuse("get_inputs() makes a %s for %s; tensors, numbers, strings and None can be handed over"
                      % (type(value).__name__, name))
    value = value.detach().to(_device(torch))
    dense = value.untyped_storage().nbytes() == value.numel() * value.element_size()
    return value if dense else value.contiguous()


def input_sets(make_inputs, most=_MOST_SETS):
    """Sets of inputs for the profiled calls of a launch script: `most`, or as many as an eighth of the GPU's memory holds, at least
    two. The same number on both sides."""
    torch = _torch()
    sets = [make_inputs(0)]
    size = sum(v.numel() * v.element_size() for v in sets[0].values() if isinstance(v, torch.Tensor))
    room = torch.cuda.get_device_properties(_device(torch)).total_memory // _SHARE_OF_MEMORY
    count = int(max(2, min(most, room // max(size, 1))))
    return sets + [make_inputs(seed) for seed in range(1, count)]
