"""
The gateway: providers' wires over HTTP, for clients that know one provider (spec/11-gateway.md).

    faces/         one module per wire: its paths, its lists of models, its token counts
    generating.py  one generation: read, route, project, ask, write
    access.py      keys of the gateway: who may use which model, how much, at what cost
    calls.py       records of the last calls
    bodies.py      request bodies: limits, encodings
    app.py         the ASGI application: routes, admission, errors
    server.py      the HTTP server
"""
