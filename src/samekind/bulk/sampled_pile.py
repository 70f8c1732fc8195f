"""SampledCollection: some items of a store of vectors, read from the source when looked at."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from samekind.bulk.manifest import Manifest
from samekind.bulk.reference import Rows, read_rows, reference_of
from samekind.bulk.vector_store import VectorStore
from samekind.encoders import Encoded
from samekind.encoders.blocks import Block, saved_blocks
from samekind.errors import InputError, SamekindError, SourceError
from samekind.items import Collection, Item, Preview
from samekind.protocols import Progress
from samekind.questions.wording import plural

if TYPE_CHECKING:
    from samekind.bulk.readers import Reader
    from samekind.protocols import Encoder

UNREADABLE = (SamekindError, OSError, LookupError, ValueError, TypeError)
"""What a source may raise that is gone, moved or damaged."""
SENTENCE = ("This item cannot be read.", "It has moved, or it is gone.")
"""What a person sees instead, below the id."""
PLACEHOLDER = 160, 120
"""Width and height of the picture that stands for one that cannot be read."""


def open_sampled(
    path: str | Path,
    *,
    size: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> SampledCollection:
    """Open the reference items of a store; they are chosen the first time.

    `size` and `seed` are those of :func:`~samekind.bulk.reference.reference_of`: None takes the
    choice that there is.

    Memory: their vectors and ids, whatever the size of the store, and while they are chosen what
    ``reference.py`` says.
    """
    store = VectorStore.open(path)
    if len(store) < 2:
        raise SourceError(
            f"Expected at least 2 items in {store.path!r}, got {len(store)}. "
            f"Embed more: samekind embed SOURCE --out {store.path}"
        )
    found = reference_of(store, size, seed, progress=progress)
    return SampledCollection.of(store, found.rows, n_later=len(store) - found.seen)


class ItemSource:
    """The source of a store, opened when the first item is looked at."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest

    @cached_property
    def reader(self) -> Reader:
        """The reader of the source."""
        from samekind.bulk.readers import open_reader

        return open_reader(self.manifest.source, columns=self.manifest.columns)

    def item(self, id: str, place: str) -> Item:
        """Read one item; :class:`SourceError` if it or the source is gone."""
        try:
            return self.reader.item(id, place)
        except UNREADABLE as problem:
            raise SourceError(
                f"{id!r} cannot be read from {self.manifest.source!r}: {problem}"
            ) from problem


class StoredItem(Item):
    """A row of a store: its id and stamp are known, its content is read when it is needed."""

    def __init__(self, id: str, place: str, stamp: str, source: ItemSource) -> None:
        self.id, self._place, self._stamp, self._source = id, place, stamp, source

    @property
    def stamp(self) -> str:
        return self._stamp

    def load(self) -> Any:
        return self._source.item(self.id, self._place).load()

    def preview(self) -> Preview:
        """The item for a person; if it is gone, its id and a sentence."""
        try:
            return self._source.item(self.id, self._place).preview()
        except UNREADABLE:
            return self._unreadable()

    def _unreadable(self) -> Preview:
        return Preview("text/plain", "\n".join((self.id, *SENTENCE)).encode())


class StoredPicture(StoredItem):
    """A picture of a store."""

    kind: ClassVar[str] = "image"

    def _unreadable(self) -> Preview:
        from PIL import Image, ImageDraw

        name = self.id if len(self.id) <= 24 else f"...{self.id[-21:]}"
        lines = (name.encode("ascii", "replace").decode(), *SENTENCE)
        image = Image.new("RGB", PLACEHOLDER, "white")
        ImageDraw.Draw(image).multiline_text((6, 30), "\n".join(lines), fill="black", spacing=6)
        data = io.BytesIO()
        image.save(data, "PNG")
        return Preview("image/png", data.getvalue())


class StoredText(StoredItem):
    """A text of a store."""

    kind: ClassVar[str] = "text"


class StoredRow(StoredItem):
    """A row of a table, or a vector."""

    kind: ClassVar[str] = "row"


KINDS: dict[str, type[StoredItem]] = {
    one.kind: one for one in (StoredPicture, StoredText, StoredRow)
}


@dataclass(frozen=True)
class SampledCollection(Collection):
    """Reference items of a store as a collection.

    Parameters
    ----------
    store : all items. rows : (n,) those in this collection.
    n_later : rows that were appended after the last choice, which these items do not represent.
    """

    store: VectorStore = field(kw_only=True, compare=False)
    rows: Rows = field(kw_only=True, compare=False, repr=False)
    n_later: int = field(default=0, kw_only=True)

    @classmethod
    def of(cls, store: VectorStore, rows: Rows, *, n_later: int = 0) -> SampledCollection:
        """Read ids, places and stamps of some rows; of rows with one id the last counts."""
        ids, places, stamps = (store.texts(rows, column) for column in ("id", "place", "stamp"))
        kind, source = KINDS[store.manifest.kind], ItemSource(store.manifest)
        each = zip(ids, places, stamps, strict=True)
        items = [kind(id, place, stamp, source) for id, place, stamp in each]
        last: dict[str, int] = {}
        for at in np.argsort(rows, kind="stable").tolist():
            last[items[at].id] = at
        kept = sorted(last.values())
        return cls(
            Path(store.path).name,
            [items[at] for at in kept],
            location=store.path,
            store=store,
            rows=rows[kept],
            n_later=n_later,
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of a table's columns; empty for other items."""
        return self.store.manifest.columns

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """(n, width) the vectors of the items."""
        return read_rows(self.store, self.rows)

    def take(self, positions: Sequence[int]) -> SampledCollection:
        chosen = [self.items[int(i)] for i in positions]
        rows = self.rows[np.asarray(positions, dtype=np.intp)]
        return SampledCollection(
            self.name, chosen, self.skipped, self.location, store=self.store, rows=rows
        )

    def encoded(self, encoder: str | None = None) -> Encoded:
        """Return the stored vectors with the encoder that made them; any other is an error."""
        own = self.store.manifest.encoder
        if encoder is not None and encoder != own:
            raise InputError(
                f"Expected the encoder {own!r}, which made the vectors {self.location!r}, got "
                f"{encoder!r}. Omit --encoder, or embed the source again with that one."
            )
        positions = np.arange(len(self), dtype=np.intp)
        lazy = cast("Encoder", StoreEncoder(self.store.manifest, encoder))  # its width is read-only
        return Encoded(self.vectors, lazy, (), positions)

    def notices(self) -> Iterator[str]:
        """Say how many items are used, and how those are included that came later."""
        if len(self) < len(self.store):
            yield f"{len(self):,} of {len(self.store):,} items are used for the questions."
        if self.n_later > 0:
            yield (
                f"{plural(self.n_later, 'item was', 'items were')} added since these were chosen. "
                f"Include some of them: samekind more {self.location} --new"
            )


class StoreEncoder:
    """The encoder of a store as it was fitted then; restored when it is first used.

    Parameters
    ----------
    wanted : the encoder as the person named it, without which only those of samekind are run.
    """

    def __init__(self, manifest: Manifest, wanted: str | None = None) -> None:
        self.manifest, self.wanted = manifest, wanted
        self.name, self.fingerprint = manifest.encoder, manifest.fingerprint
        self.kinds: tuple[str, ...] = (manifest.kind,)

    @cached_property
    def restored(self) -> Encoder:
        """The encoder itself; an error says if it cannot be had here."""
        from samekind.bulk.encoders import encoder_of

        return encoder_of(self.manifest, self.wanted)

    @property
    def width(self) -> int | None:
        """Numbers per item that `read` returns."""
        return self.restored.width

    @property
    def parts(self) -> Sequence[Encoder]:
        """The encoders that it is made of, if there are several."""
        several: Sequence[Encoder] = getattr(self.restored, "parts", ())
        return several

    @property
    def blocks(self) -> tuple[Block, ...] | None:
        """Which columns belong together, as the manifest says; None: all of them."""
        state = self.manifest.encoder_state
        return saved_blocks(state) if "stops" in state else None

    def state(self) -> dict[str, Any]:
        """Return what the encoder has learnt."""
        return dict(self.manifest.encoder_state)

    def read(self, items: Sequence[Item]) -> Any:
        """Read items one by one."""
        return self.restored.read(items)

    def fit(self, raw: Any) -> Self:
        """Refuse: another fit would not match the stored vectors."""
        raise InputError("The encoder of a store is fitted already. Use `transform`.")

    def transform(self, raw: Any) -> NDArray[np.float32]:
        """Return vectors like those of the store."""
        return self.restored.transform(raw)
