"""The gRPC service: the methods, their errors, and the server (spec/9-service.md). Needs the extra `server`."""
