"""`interlingua plug`: the protocol of the conformance suite."""


def plug() -> None:
    """Run the protocol of the conformance suite on standard input and output. It is JSON, so there is no --json."""
    from interlingua.plug import serve as serve_plug

    serve_plug()
