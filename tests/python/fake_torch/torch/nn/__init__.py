# SPDX-License-Identifier: Apache-2.0
from . import functional  # noqa: F401
