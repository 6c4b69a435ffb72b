"""
The inspector: the page at `/` and the operations that it uses (spec/11-gateway.md#inspector).

    comparing.py    one value in all wires, with every loss at its place
    recognising.py  the kind and the wire of a pasted text
    places.py       the place of a canonical value in a wire
    paths.py        the paths: the page, its files, comparisons, the live list of calls
    page/           the page: HTML, CSS and modules, as they are sent
    examples/       values to begin with
"""
