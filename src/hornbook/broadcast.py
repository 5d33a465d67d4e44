"""What every chunk of work needs travels to each worker once, and is kept there by its checksum.

Here, an object becomes bytes and is put where the workers of joblib's active backend can fetch
it: a file for the processes of this machine, the workers' memory in Dask, the object store in
Ray. There, it is fetched and unpickled when a chunk first needs it, and serves the next ones.
"""

from __future__ import annotations

import atexit
import hashlib
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cache, partial
from pathlib import Path
from typing import Any

from hornbook.logic.errors import HornbookError

KEEP = 16
"""So many objects are kept, here and in each worker; the one used longest ago goes first."""

_LOCK = threading.RLock()
_FILES: OrderedDict[str, Path] = OrderedDict()
_REFERENCES: OrderedDict[Hashable, Any] = OrderedDict()
_FETCHED: OrderedDict[str, Any] = OrderedDict()


def placed(value: Any, backend: Any) -> tuple[str, Any]:
    """The checksum of an object, and where workers of a joblib backend find it.

    The place is bytes, a function that returns them, or a Dask future, which becomes bytes on
    its way to a worker. An object that was placed before, and is still there, is not placed
    again. Threads have no need of a place.
    """
    import cloudpickle

    if getattr(backend, "supports_sharedmem", False):
        return "", value
    try:
        pickled = cloudpickle.dumps(value)
    except Exception as error:  # whatever an object raises when it is not meant to travel
        raise HornbookError(
            f"{type(value).__name__} cannot be sent to other processes ({error}); use n_jobs=1"
        ) from error
    checksum = hashlib.sha256(pickled).hexdigest()
    if hasattr(backend, "client"):
        return checksum, _in_dask(backend.client, checksum, pickled)
    if type(backend).__module__.startswith("ray."):
        return checksum, _in_ray(checksum, pickled)
    if type(backend).__module__.startswith("joblib."):
        return checksum, _in_file(checksum, pickled)
    return checksum, pickled


def fetched(checksum: str, place: Any) -> Any:
    """The object with this checksum, unpickled in this process only once."""
    import cloudpickle

    if not checksum:
        return place
    with _LOCK:
        if checksum not in _FETCHED:
            # joblib does the work here if a cluster has but one worker left, with futures as they are
            fetch = getattr(place, "result", place)
            _FETCHED[checksum] = cloudpickle.loads(fetch() if callable(fetch) else fetch)
        return _used(_FETCHED, checksum)


def _in_file(checksum: str, pickled: bytes) -> Callable[[], bytes]:
    """A file on this machine."""
    path = _folder() / checksum
    with _LOCK:
        if checksum not in _FILES:
            path.write_bytes(pickled)
            _FILES[checksum] = path
        _used(_FILES, checksum, evict=lambda file: file.unlink(missing_ok=True))
    return path.read_bytes


def _in_dask(client: Any, checksum: str, pickled: bytes) -> Any:
    """The memory of every worker of a Dask cluster."""
    key = (client.id, checksum)
    with _LOCK:
        if key not in _REFERENCES or _REFERENCES[key].status != "finished":
            # by name a lost value would be taken for one that is there
            _REFERENCES[key] = client.scatter(pickled, broadcast=True, hash=False)
        return _used(_REFERENCES, key)


def _in_ray(checksum: str, pickled: bytes) -> Callable[[], Any]:
    """The object store of a Ray cluster, which a machine of it reads from once."""
    import ray

    key = (ray.get_runtime_context().get_job_id(), checksum)
    with _LOCK:
        if key not in _REFERENCES:
            _REFERENCES[key] = ray.put(pickled)
        return partial(ray.get, _used(_REFERENCES, key))


def _used(kept: OrderedDict[Any, Any], key: Hashable, evict: Callable[[Any], object] | None = None) -> Any:
    """The value of a key, which becomes the last to go; the first goes if there are too many."""
    kept.move_to_end(key)
    while len(kept) > KEEP:
        _, gone = kept.popitem(last=False)
        if evict is not None:
            evict(gone)
    return kept[key]


@cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="hornbook-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
