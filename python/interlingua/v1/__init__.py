"""The Protobuf messages and the gRPC stubs, GENERATED from proto/ by buf: do not edit. Needs the extra `server`."""
