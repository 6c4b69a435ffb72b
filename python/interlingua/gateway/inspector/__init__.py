"""
The inspector: the page at `/` and what it asks the gateway (spec/11-gateway.md#inspector).

    comparing.py    one value in all wires, with what is lost at its places
    recognising.py  what a pasted text is
    places.py       where a canonical value stands in a wire
    paths.py        the paths: the page, its files, comparisons, the live list of calls
    page/           the page: HTML, CSS and modules, as they are sent
    examples/       values to begin with
"""
