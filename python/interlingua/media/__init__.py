"""
Media at the edges of a conversation, on explicit request only (spec/10-media.md).

The core carries media unchanged: it fetches nothing and decodes nothing. These functions do more, when a caller uses
them:

    media.sniff(data)                          the media type of some bytes
    media.mismatches(request)                  the places where the declared media type is not that of the bytes
    media.resolve(request, fetch=…, root=…)    URLs and files of a workspace as bytes
    media.fit(request, capabilities)           images within the limits of a target, with a report of the changes

The result has the type of the argument, plain data or `Request`; the argument is never changed. Pillow is imported only
when a picture must be converted (`pip install 'interlingua[images]'`).
"""

from interlingua.canonical.magic import dimensions, sniff
from interlingua.media.fitting import fit
from interlingua.media.places import mismatches
from interlingua.media.resolving import CannotResolve, Fetch, resolve

__all__ = ["CannotResolve", "Fetch", "dimensions", "fit", "mismatches", "resolve", "sniff"]
