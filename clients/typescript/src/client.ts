import type { SecureClientSessionOptions } from "node:http2";

import { create, type DescMessage, type DescService, type MessageShape } from "@bufbuild/protobuf";
import { type CallOptions, type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createGrpcTransport, type GrpcTransportOptions, Http2SessionManager } from "@connectrpc/connect-node";

import { InterlinguaError } from "./errors.js";
import { type Events, GenerateStreamResponseSchema, InterlinguaService } from "./generated/interlingua/v1/service_pb.js";
import { GenerateInSessionResponseSchema, SessionService } from "./generated/interlingua/v1/sessions_pb.js";

/** The largest message that a server takes or gives unless it is told otherwise. */
export const MAX_MESSAGE_BYTES = 64 << 20;

/** How to connect. */
export interface ConnectOptions {
  /** Connect by TLS: `true` with the roots of the system, or the options of node:tls (`ca`, `cert`, `key`). */
  tls?: boolean | SecureClientSessionOptions;
  /** Sent with every call as `authorization: Bearer`. Without TLS the token travels in the clear. */
  token?: string;
  /** Further options of the transport, e.g. interceptors. */
  transport?: Partial<GrpcTransportOptions>;
}

/**
 * The methods of the service and of that of sessions, whose failures are `InterlinguaError`s. Leaving the loop over a stream
 * cancels its call.
 *
 * Events that arrived together travel in one message, and `generateStream` and `generateInSession` give them one by one; a
 * request that itself says `batched` gets them as they travel.
 */
export type InterlinguaClient = Client<typeof InterlinguaService> &
  Client<typeof SessionService> & {
    /** Ends the connection and all calls on it. */
    close(): void;
  };

/** A client of the server at `host:port`. The connection itself is opened by the first call. */
export function connect(address: string, options: ConnectOptions = {}): InterlinguaClient {
  const nodeOptions = typeof options.tls === "object" ? options.tls : undefined;
  const baseUrl = `${options.tls ? "https" : "http"}://${address}`;
  const sessionManager = new Http2SessionManager(baseUrl, {}, nodeOptions);
  const transport = createGrpcTransport({
    baseUrl,
    nodeOptions,
    sessionManager,
    readMaxBytes: MAX_MESSAGE_BYTES,
    writeMaxBytes: MAX_MESSAGE_BYTES,
    ...options.transport,
    interceptors: [withToken(options.token), ...(options.transport?.interceptors ?? [])],
  });
  const service = methodsOf(InterlinguaService, transport);
  const sessions = methodsOf(SessionService, transport);
  return {
    ...service,
    ...sessions,
    generateStream: oneByOne(service.generateStream, GenerateStreamResponseSchema),
    generateInSession: oneByOne(sessions.generateInSession, GenerateInSessionResponseSchema),
    close: () => sessionManager.abort(),
  };
}

function methodsOf<S extends DescService>(service: S, transport: Transport): Client<S> {
  const client = createClient(service, transport);
  const methods = Object.values(service.method).map(({ localName, methodKind }) => {
    const method = client[localName as keyof typeof client] as any;
    return [localName, methodKind === "unary" ? unary(method) : streaming(method)] as const;
  });
  return Object.fromEntries(methods) as unknown as Client<S>;
}

function oneByOne<I extends { batched?: boolean }, O extends DescMessage>(
  method: (request: I, options?: CallOptions) => AsyncIterable<MessageShape<O>>,
  schema: O,
): typeof method {
  const alone = (piece: unknown) => create(schema, { piece } as any);
  return async function* (request, options) {
    for await (const message of method({ ...request, batched: true }, options)) {
      const { piece } = message as unknown as { piece: { case?: string; value?: unknown } };
      if (piece.case === "events" && !request.batched) {
        const { events, eventsJson } = piece.value as Events;
        yield* events.map((value) => alone({ case: "event", value }));
        yield* eventsJson.map((value) => alone({ case: "eventJson", value }));
      } else {
        yield message;
      }
    }
  };
}

function unary<I, O>(method: (request: I, options?: CallOptions) => Promise<O>) {
  return (request: I, options?: CallOptions) =>
    method(request, options).catch((problem) => Promise.reject(InterlinguaError.of(problem, options?.signal)));
}

/** A stream whose call ends with the loop over it. The library's own goes on unheard, and a provider is paid for it. */
function streaming<I, O>(method: (request: I, options?: CallOptions) => AsyncIterable<O>) {
  return async function* (request: I, options?: CallOptions): AsyncGenerator<O> {
    const left = new AbortController();
    const signal = options?.signal ? AbortSignal.any([options.signal, left.signal]) : left.signal;
    try {
      yield* method(request, { ...options, signal });
    } catch (problem) {
      throw InterlinguaError.of(problem, options?.signal);
    } finally {
      left.abort();
    }
  };
}

function withToken(token: string | undefined): Interceptor {
  return (next) => (request) => {
    if (token !== undefined) {
      request.header.set("authorization", `Bearer ${token}`);
    }
    return next(request);
  };
}
