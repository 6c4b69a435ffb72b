"""
Media at the edges of a conversation, on explicit request only (spec/10-media.md).

The core carries media as they are: it fetches nothing and decodes nothing. Who wants more calls one of these:

    media.sniff(data)                          what some bytes are
    media.mismatches(request)                  where the declared media type is not what the bytes are
    media.resolve(request, fetch=…, root=…)    URLs and files of a workspace as bytes
    media.fit(request, capabilities)           images within the limits of a target, with the report of what changed

What goes in comes out, plain data or `Request`; the input is never changed. Pillow (`pip install 'interlingua[images]'`) is imported
when a picture must be converted, and not before.
"""

from interlingua.canonical.magic import dimensions, sniff
from interlingua.media.fitting import fit
from interlingua.media.places import mismatches
from interlingua.media.resolving import CannotResolve, Fetch, resolve

__all__ = ["CannotResolve", "Fetch", "dimensions", "fit", "mismatches", "resolve", "sniff"]
