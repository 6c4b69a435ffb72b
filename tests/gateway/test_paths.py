"""Paths without parameters are looked up in a table: that must lead where trying the routes in turn would lead."""

from starlette.routing import Match, Route

from interlingua.client import Client, FakeTransport
from interlingua.client.replay import open_registry
from interlingua.client.routing import Routing
from interlingua.gateway import faces
from interlingua.gateway.app import all_routes, operations_of
from interlingua.gateway.gateway import Gateway


def test_a_path_leads_where_the_routes_in_turn_lead() -> None:
    registry = open_registry()
    gateway = Gateway(Client(FakeTransport(), registry=registry), Routing(registry))
    routes = all_routes(gateway, faces.routes(gateway))
    operations = operations_of(routes)
    assert ("POST", "/v1/messages") in operations
    assert ("POST", "/v1/chat/completions") in operations
    for (method, path), operation in operations.items():
        scope = {"type": "http", "method": method, "path": path}
        first = next(route for route in routes if route.matches(scope)[0] is Match.FULL)
        assert isinstance(first, Route)
        assert first.endpoint is operation
