# SPDX-License-Identifier: Apache-2.0
"""Receives the row scales from prep and leaves them alone."""
def run(x, w, scale):
    return (x.float() * scale * w.float()).to(x.dtype)
