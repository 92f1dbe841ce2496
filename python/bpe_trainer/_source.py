"""The source of a tokenizer: where its files are, and whether they are still those that were loaded."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import Iterator, Sequence, Union

from ._executable import BpeError, Home
from ._image import Image, image_at
from ._options import FILES

#: The path and content of each file of a tokenizer that is only in memory.
Files = tuple[tuple[str, bytes], ...]
_RECORD = "training.json"
#: Fields of training.json that are about its run. They are left out of pickles, so that two trainings of the same
#: tokenizer are pickled alike.
_OF_THE_RUN = ("command", "arguments", "workingDirectory", "startedAt", "timings", "peakMemoryBytes")


class Source:
    """Where the files of a tokenizer are: at a path, in a temporary directory, or in memory."""

    def __init__(
        self,
        path: str,
        home: Union[Home, None] = None,
        options: Sequence[str] = (),
        *,
        files: Union[Files, None] = None,
        fingerprint: Union[str, None] = None,
        seen: Union[tuple[object, ...], None] = None,
        is_typed: bool = False,
        as_text: bool = False,
    ) -> None:
        """``is_typed``: no file exists at the path, which may be the name of a tokenizer; then `load` looks it up."""
        #: The path is absolute, because the current directory may change. A typed name and the path of files in memory
        #: stay as they are.
        self.path = path if files is not None or is_typed or os.path.isabs(path) else os.path.join(os.getcwd(), path)
        self._is_typed = is_typed
        #: Whether special tokens in a text are text, if a call does not say.
        self.as_text = as_text
        self.options = list(options)
        self.home = home
        self.files = files
        #: The `fingerprint` in the facts of the image: a digest of all that determines the tokenizer.
        #: (`Tokenizer.fingerprint` is a different digest.) If the tokenizer is loaded again, it must have the same
        #: fingerprint.
        self.fingerprint = fingerprint
        #: The result of `look_at` when the files were written or last loaded.
        self.seen = seen

    @property
    def has_place(self) -> bool:
        return self.home is None and self.files is None

    @property
    def encoding_options(self) -> list[str]:
        """Options for commands of `bpe` that encode."""
        return [*self.options, *(["--special-tokens-as-text"] if self.as_text else [])]

    def load(self) -> Image:
        """Returns the image of the tokenizer at the path. Raises BpeError if it is not the tokenizer that was loaded before."""
        with self._written() as path:
            seen = look_at(path) if self.files is None else None
            if self.fingerprint is None and self.seen not in (None, seen):
                raise self.replaced_error()
            image = image_at(path, self.options, self.as_text)
            if self.fingerprint not in (None, image.facts["fingerprint"]):
                raise self.replaced_error()
            if seen is not None and seen != look_at(path):
                raise self.replaced_error()
        # Use the path in the image only if a name was looked up, because the image in a directory may be forged.
        if self._is_typed and "foundAt" in image.facts:
            self._is_typed = False
            self.path = os.path.join(os.getcwd(), image.facts["foundAt"])
            seen = look_at(self.path)
        self.seen, self.fingerprint = seen, image.facts["fingerprint"]
        return image

    @contextmanager
    def place(self) -> Iterator[str]:
        """A context with the path of the files. Raises BpeError if they are no longer those of the tokenizer."""
        self._check()
        with self._written() as path:
            yield path
        self._check()

    def _check(self) -> None:
        """Loads and compares the tokenizer at the path, if it may have changed."""
        if self.files is None and (self.seen is None or self.seen != look_at(self.path)):
            self.load()

    @contextmanager
    def _written(self) -> Iterator[str]:
        """Like `place`, but does not check the files. Files in memory are written into a temporary directory."""
        if self.files is None:
            yield self.path
            return
        with Home() as home:
            for name, content in self.files:
                path = os.path.join(home, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(content)
            try:
                yield os.path.join(home, self.path)
            except BpeError as error:
                # The caller does not know of the temporary directory.
                error.args = (str(error).replace(f"{home}{os.sep}", ""),)
                raise

    def replaced_error(self) -> BpeError:
        return BpeError(f'"{self.path}" has been replaced by another tokenizer; to use that one, call bpe.Tokenizer.load')

    def pickled(self) -> "tuple[object, ...]":
        """Returns the arguments of `unpickle`: the same ones each time, so that pickles can be keys of caches."""
        more = (True,) if self.as_text else ()
        if self.has_place:
            return self.path, tuple(self.options), self.fingerprint, None, *more
        files = self.files if self.home is None else files_below(self.home.name)
        path = self.path if self.home is None else os.path.relpath(self.path, self.home.name)
        return path, tuple(self.options), None, files, *more


def unpickle(
    path: str,
    options: Sequence[str],
    fingerprint: Union[str, None],
    files: Union[Files, None],
    as_text: bool = False,
) -> Source:
    for name in () if files is None else (path, *(name for name, _ in files)):
        parts = name.replace(os.sep, "/").split("/")
        if not name or os.path.isabs(name) or os.path.splitdrive(name)[0] or ".." in parts:
            raise BpeError(f"the pickled tokenizer has the file name {name[:200]!r}, which is not a path in its directory")
    return Source(path, None, options, files=files, fingerprint=fingerprint, as_text=as_text)


def look_at(path: str) -> tuple[object, ...]:
    """Returns the identity and times of the files. If they change, another tokenizer may be at the path."""
    directory = path if os.path.isdir(path) else os.path.dirname(path)
    seen: list[object] = []
    for name in ("", *FILES):
        each = os.path.join(directory, name) if name else path
        try:
            stats = os.stat(each)
        except OSError:
            continue
        # The times of a directory are left out, because they change with every file that is added.
        times = () if os.path.isdir(each) else (stats.st_size, stats.st_mtime_ns, stats.st_ctime_ns)
        seen.append((name, stats.st_dev, stats.st_ino, *times))
    return tuple(seen)


def files_below(home: str) -> Files:
    files: list[tuple[str, bytes]] = []
    for directory, _, names in os.walk(home):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                content = file.read()
            files.append((os.path.relpath(path, home), _without_run(content) if name == _RECORD else content))
    return tuple(sorted(files))


def _without_run(record: bytes) -> bytes:
    """Returns training.json without the fields about its run. Of a converted tokenizer's path, keeps only the last part."""
    import json

    kept = {name: value for name, value in json.loads(record).items() if name not in _OF_THE_RUN}
    for source in kept.get("converted", {}).get("tokenizer", ()):
        source["path"] = os.path.basename(source["path"])
    return json.dumps(kept, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"
