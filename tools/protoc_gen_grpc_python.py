"""A protoc plugin that writes the gRPC code: it passes the request to the plugin inside grpcio-tools."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from google.protobuf.compiler.plugin_pb2 import CodeGeneratorRequest, CodeGeneratorResponse
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc


def answer(request: CodeGeneratorRequest) -> CodeGeneratorResponse:
    """Return the generated files for the files of the request that define a service."""
    response = CodeGeneratorResponse(supported_features=CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL)
    services = [file.name for file in request.proto_file if file.service and file.name in request.file_to_generate]
    with TemporaryDirectory() as folder:
        descriptors = Path(folder, "descriptors.binpb")
        descriptors.write_bytes(FileDescriptorSet(file=request.proto_file).SerializeToString())
        output = Path(folder, "out")
        output.mkdir()
        if services and protoc.main(
            ["protoc", f"--descriptor_set_in={descriptors}", f"--grpc_python_out={output}", *services]
        ):
            response.error = "grpc_tools.protoc failed"
        for path in sorted(output.rglob("*.py")):
            response.file.add(name=path.relative_to(output).as_posix(), content=path.read_text("utf-8"))
    return response


if __name__ == "__main__":
    request = CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    sys.stdout.buffer.write(answer(request).SerializeToString())
