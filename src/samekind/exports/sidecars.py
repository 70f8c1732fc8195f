"""XMP sidecars: the group of a picture as tags that photo managers read.

The group is a keyword (``dc:subject``), and a tag below ``samekind`` and the grouping in the
properties of Lightroom and darktable (``|`` between levels) and of digiKam (``/``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape

ROOT = "samekind"
"""The tag above all groupings."""
SUFFIX = ".xmp"

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TEMPLATE = """\
<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about=""
    xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:lr="http://ns.adobe.com/lightroom/1.0/"
    xmlns:digiKam="http://www.digikam.org/ns/1.0/">
   <dc:subject><rdf:Bag><rdf:li>{keyword}</rdf:li></rdf:Bag></dc:subject>
   <lr:hierarchicalSubject><rdf:Bag><rdf:li>{lightroom}</rdf:li></rdf:Bag></lr:hierarchicalSubject>
   <digiKam:TagsList><rdf:Seq><rdf:li>{digikam}</rdf:li></rdf:Seq></digiKam:TagsList>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
"""


def sidecar(grouping: str, group: str) -> bytes:
    """Return the sidecar of a picture in a group; equal names give equal bytes."""
    levels = (ROOT, grouping, group)
    return _TEMPLATE.format(
        keyword=_text(group), lightroom=_tag(levels, "|"), digikam=_tag(levels, "/")
    ).encode()


def _tag(levels: Sequence[str], separator: str) -> str:
    """Return the path of a tag; a separator within a name would be another level."""
    return _text(separator.join(level.replace(separator, "_") for level in levels))


def _text(value: str) -> str:
    """Return text for XML; characters that XML forbids, such as control characters, become _."""
    return escape(_NOT_XML.sub("_", value))
