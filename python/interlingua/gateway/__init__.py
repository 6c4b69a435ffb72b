"""
The gateway: the wires of the providers over HTTP, for clients that know one provider (spec/11-gateway.md).

    faces/         one module per wire: its paths, its lists of models, its token counts
    generating.py  one generation: read and route the request, call the provider, write the response
    calls.py       records of the last calls
    bodies.py      request bodies: limits, encodings
    app.py         the ASGI application: routes, admission, errors
    server.py      the HTTP server

The keys of the callers are in `interlingua/access.py`.
"""
