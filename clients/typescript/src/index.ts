/**
 * A client of Interlingua: conversations with language models, carried between providers, routed and generated.
 *
 * @packageDocumentation
 */
export * from "./client.js";
export * from "./errors.js";
export * from "./json.js";
export * from "./messages.js";
export * from "./generated/interlingua/v1/service_pb.js";
export * from "./generated/interlingua/v1/sessions_pb.js";
export * from "./generated/interlingua/v1/types_pb.js";
export { create, fromBinary, toBinary } from "@bufbuild/protobuf";
