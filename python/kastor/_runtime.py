# SPDX-License-Identifier: Apache-2.0
"""Starts Kokkos at the first use, and keeps forks and the exit clean."""

from __future__ import annotations

import atexit
import os
import threading

from . import _kastor

os.register_at_fork(
    before=_kastor.before_fork,
    after_in_parent=lambda: _kastor.after_fork(False),
    after_in_child=lambda: _kastor.after_fork(True),
)


def _finish() -> None:
    _kastor.finish(threading.active_count() == 1)


atexit.register(_finish)


def initialize(threads: int | None = None, device: bool = True) -> None:
    """Start the backends now, instead of at the first call.

    Parameters
    ----------
    threads : int, optional
        Number of threads of OpenMP. Default: ``OMP_NUM_THREADS``, else all cores.
    device : bool
        Whether a GPU may be used. False lets processes that are forked later search, on the backend "serial".

    Raises
    ------
    Error
        If they run already with another number of threads, or with a GPU.

    Notes
    -----
    After a fork, as by `multiprocessing` with its method "fork", the child can use the backend
    "serial" alone, with the same results, and nothing if a GPU was in use before the fork, since CUDA does
    not allow it. Start the backends before the fork.

    Examples
    --------
    >>> import kastor
    >>> kastor.initialize()
    """
    _kastor.start(threads, device)


def backends() -> list[str]:
    """Names of the backends that can be used here, for the argument `on`: "serial", "openmp", "cuda".

    Examples
    --------
    >>> import kastor
    >>> kastor.backends()
    ['serial', ...]
    """
    return list(_kastor.backends())


def release() -> None:
    """Free the memory that calls keep for the next call on an image of the same shape.

    Examples
    --------
    >>> import kastor
    >>> kastor.release()
    """
    _kastor.release()
