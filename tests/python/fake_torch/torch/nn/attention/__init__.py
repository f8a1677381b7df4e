# SPDX-License-Identifier: Apache-2.0
import contextlib
import types

SDPBackend = types.SimpleNamespace(FLASH_ATTENTION="flash", CUDNN_ATTENTION="cudnn")


def sdpa_kernel(backend):
    return contextlib.nullcontext()
