# SPDX-License-Identifier: Apache-2.0
"""Starts Kokkos at the first use, and keeps forks and the exit clean."""

from __future__ import annotations

import atexit
import os

from . import _kastor

os.register_at_fork(before=_kastor.before_fork, after_in_parent=lambda: _kastor.after_fork(False),
                    after_in_child=lambda: _kastor.after_fork(True))
atexit.register(_kastor.finish)


def initialize(threads: int | None = None) -> None:
    """Start the backends now, instead of at the first call.

    Parameters
    ----------
    threads : int, optional
        Number of threads of OpenMP. Default: ``OMP_NUM_THREADS``, else all cores.

    Raises
    ------
    Error
        If they run already with another number of threads.

    Notes
    -----
    After a fork, as by `multiprocessing` with its method "fork", the child can use the backend
    "serial" alone, with the same results. Start the backends before the fork.
    """
    _kastor.start(threads)


def backends() -> list[str]:
    """Names of the backends that can be used here, for the argument `on`: "serial", "openmp", "cuda"."""
    return list(_kastor.backends())


def release() -> None:
    """Free the memory that calls keep for the next call on an image of the same shape."""
    _kastor.release()
