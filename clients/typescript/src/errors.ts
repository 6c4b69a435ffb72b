import { create, fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

import {
  type Error as CanonicalError,
  ErrorCategory,
  ErrorSchema,
  type LossEntry,
  type Usage,
  UsageSchema,
  type Violation,
  ViolationSchema,
} from "./generated/interlingua/v1/types_pb.js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "./generated/google/rpc/error_details_pb.js";

/**
 * How every call of a client fails.
 *
 * `message` is the server's sentence and its place, "… (at /target)", which hold no content: what the provider said is in
 * `canonical.providerMessage`, and does not belong in a log.
 */
export class InterlinguaError extends Error {
  override readonly name = "InterlinguaError";
  /** The status that the call ended with. */
  readonly code: Code;
  /** Whose fault it is and what kind. A failure that is not the server's has the category of its status. */
  readonly category: ErrorCategory;
  /** JSON Pointer to the place in the input, or empty. */
  readonly path: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** Seconds to wait before that; undefined when the server did not say. */
  readonly retryAfter: number | undefined;
  /** The report of a refused projection. Details are cut to 6,000 bytes: `lossEntries` tells how many there were. */
  readonly loss: LossEntry[];
  readonly lossEntries: number;
  /** The broken rules of an invalid request. */
  readonly violations: Violation[];
  /** What was paid for an answer that did not come to its end. */
  readonly usage: Usage | undefined;
  /** The whole error as the server gave it; undefined when the failure is not the server's. */
  readonly canonical: CanonicalError | undefined;

  /** The error of a call, whatever the transport threw. `signal` is the caller's: without it nobody cancelled. */
  static of(problem: unknown, signal?: AbortSignal): InterlinguaError {
    return new InterlinguaError(ConnectError.from(problem), signal?.aborted ?? false);
  }

  private constructor(status: ConnectError, cancelled: boolean) {
    super(status.rawMessage, { cause: status });
    this.code = status.code;
    const found = new Map<string, Uint8Array>();
    for (const detail of status.details) {
      if ("type" in detail) {
        found.set(detail.type, detail.value);
      }
    }
    const canonical = found.get(ErrorSchema.typeName);
    const info = found.get(ErrorInfoSchema.typeName);
    const retry = found.get(RetryInfoSchema.typeName);
    const bad = found.get(BadRequestSchema.typeName);
    const usage = found.get(UsageSchema.typeName);
    this.canonical = canonical && fromBinary(ErrorSchema, canonical);
    const refused = isTls(status.cause);
    this.category = this.canonical ? known(this.canonical.category) : categoryOf(status.code, cancelled, refused);
    this.path = this.canonical?.path ?? "";
    this.retryable = this.canonical?.retryable ?? (PASSING.includes(this.category) && !refused);
    const delay = retry && fromBinary(RetryInfoSchema, retry).retryDelay;
    this.retryAfter = delay && Number(delay.seconds) + delay.nanos / 1e9;
    this.loss = this.canonical?.loss ?? [];
    this.lossEntries = Number(info ? (fromBinary(ErrorInfoSchema, info).metadata["loss_entries"] ?? 0) : 0);
    this.violations = (bad ? fromBinary(BadRequestSchema, bad).fieldViolations : []).map((broken) =>
      create(ViolationSchema, { rule: broken.reason, path: broken.field, message: broken.description }),
    );
    this.usage = usage && fromBinary(UsageSchema, usage);
  }
}

function known(category: ErrorCategory): ErrorCategory {
  return category in ErrorCategory ? category : ErrorCategory.OTHER;
}

/** A connection that breaks is told as one that was cancelled, also when nobody did. */
function categoryOf(code: Code, cancelled: boolean, refused: boolean): ErrorCategory {
  return refused || (code === Code.Canceled && !cancelled) ? ErrorCategory.NETWORK : (CATEGORIES[code] ?? ErrorCategory.OTHER);
}

/**
 * Whether TLS refused the connection: a certificate that is not trusted, a server without TLS. It refuses the same call
 * again until somebody changes the configuration. The codes are those of Node.js and of OpenSSL.
 */
function isTls(cause: unknown): boolean {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return /^(ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|INVALID_PURPOSE|HOSTNAME_)/.test(code);
}

/** What may pass, of failures without details. */
const PASSING: readonly ErrorCategory[] = [ErrorCategory.NETWORK, ErrorCategory.TIMEOUT];

/** The category of a status that comes without details: from the transport, or from what stands before the server. */
const CATEGORIES: Partial<Record<Code, ErrorCategory>> = {
  [Code.InvalidArgument]: ErrorCategory.INVALID_REQUEST,
  [Code.Unauthenticated]: ErrorCategory.AUTHENTICATION,
  [Code.PermissionDenied]: ErrorCategory.PERMISSION,
  [Code.NotFound]: ErrorCategory.NOT_FOUND,
  [Code.Unimplemented]: ErrorCategory.UNSUPPORTED,
  [Code.ResourceExhausted]: ErrorCategory.UNSUPPORTED, // a message above the client's own limit
  [Code.OutOfRange]: ErrorCategory.UNSUPPORTED,
  [Code.DeadlineExceeded]: ErrorCategory.TIMEOUT,
  [Code.Canceled]: ErrorCategory.CANCELLED,
  [Code.Unavailable]: ErrorCategory.NETWORK,
};
