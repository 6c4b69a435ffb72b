package interlingua;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import interlingua.v1.Error;
import interlingua.v1.ErrorCategory;
import interlingua.v1.LossEntry;
import interlingua.v1.Usage;
import interlingua.v1.Violation;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How every call of a {@link Client} fails.
 *
 * <p>Its message is the server's sentence alone, which holds no content: what the provider said is in {@code
 * canonical().getProviderMessage()}, and does not belong in a log.
 */
public final class InterlinguaException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient Status status;
  private final ErrorCategory category;
  private final Duration retryAfter;
  private final int lossEntries;
  private final transient List<Violation> violations;
  private final Usage usage;
  private final Error canonical;

  /** The error of a call, whatever the transport threw. */
  public static InterlinguaException of(Throwable problem) {
    if (problem instanceof InterlinguaException known) {
      return known;
    }
    Details found = new Details();
    com.google.rpc.Status details = StatusProto.fromThrowable(problem);
    if (details != null) {
      details.getDetailsList().forEach(found::read);
    }
    return new InterlinguaException(Status.fromThrowable(problem), found, problem);
  }

  private static final class Details {
    private Duration retryAfter;
    private int lossEntries;
    private final List<Violation> violations = new ArrayList<>();
    private Usage usage;
    private Error canonical;

    /** Takes one detail. One that cannot be read is as good as none. */
    private void read(Any detail) {
      try {
        if (detail.is(ErrorInfo.class)) {
          var facts = detail.unpack(ErrorInfo.class).getMetadataMap();
          lossEntries = Integer.parseInt(facts.getOrDefault("loss_entries", "0"));
        } else if (detail.is(RetryInfo.class)) {
          var delay = detail.unpack(RetryInfo.class).getRetryDelay();
          retryAfter = Duration.ofSeconds(delay.getSeconds(), delay.getNanos());
        } else if (detail.is(BadRequest.class)) {
          for (var broken : detail.unpack(BadRequest.class).getFieldViolationsList()) {
            violations.add(
                Violation.newBuilder()
                    .setRule(broken.getReason())
                    .setPath(broken.getField())
                    .setMessage(broken.getDescription())
                    .build());
          }
        } else if (detail.is(Usage.class)) {
          usage = detail.unpack(Usage.class);
        } else if (detail.is(Error.class)) {
          canonical = detail.unpack(Error.class);
        }
      } catch (InvalidProtocolBufferException | NumberFormatException problem) {
        return;
      }
    }
  }

  private InterlinguaException(Status status, Details found, Throwable cause) {
    super(found.canonical == null ? status.getDescription() : found.canonical.getMessage(), cause);
    this.status = status;
    this.canonical = found.canonical;
    this.category = found.canonical == null ? categoryOf(status.getCode()) : known(found.canonical.getCategory());
    this.retryAfter = found.retryAfter;
    this.lossEntries = found.lossEntries;
    this.violations = List.copyOf(found.violations);
    this.usage = found.usage;
  }

  /** Whose fault it is and what kind. A failure that is not the server's has the category of its status. */
  public ErrorCategory category() {
    return category;
  }

  /** The status that the call ended with. */
  public Status status() {
    return status;
  }

  /** JSON Pointer to the place in the input, or empty. */
  public String path() {
    return canonical == null ? "" : canonical.getPath();
  }

  /** Whether the same call may succeed later. */
  public boolean isRetryable() {
    return canonical == null ? category == ErrorCategory.ERROR_CATEGORY_NETWORK : canonical.getRetryable();
  }

  /** How long to wait before that, when the server said so. */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }

  /** The report of a refused projection. Details are cut to 6,000 bytes: see {@link #lossEntries}. */
  public List<LossEntry> loss() {
    return canonical == null ? List.of() : canonical.getLossList();
  }

  /** How many entries the report had. */
  public int lossEntries() {
    return lossEntries;
  }

  /** The broken rules of an invalid request. */
  public List<Violation> violations() {
    return violations;
  }

  /** What was paid for an answer that did not come to its end. */
  public Optional<Usage> usage() {
    return Optional.ofNullable(usage);
  }

  /** The whole error as the server gave it; empty when the failure is not the server's. */
  public Optional<Error> canonical() {
    return Optional.ofNullable(canonical);
  }

  private static ErrorCategory known(ErrorCategory category) {
    return category == ErrorCategory.UNRECOGNIZED ? ErrorCategory.ERROR_CATEGORY_OTHER : category;
  }

  /** The category of a status that comes without details: from the transport, or from what stands before the server. */
  private static ErrorCategory categoryOf(Status.Code code) {
    return switch (code) {
      case INVALID_ARGUMENT -> ErrorCategory.ERROR_CATEGORY_INVALID_REQUEST;
      case UNAUTHENTICATED -> ErrorCategory.ERROR_CATEGORY_AUTHENTICATION;
      case PERMISSION_DENIED -> ErrorCategory.ERROR_CATEGORY_PERMISSION;
      case NOT_FOUND -> ErrorCategory.ERROR_CATEGORY_NOT_FOUND;
      // no such method, or a message above the client's own limit
      case UNIMPLEMENTED, RESOURCE_EXHAUSTED, OUT_OF_RANGE -> ErrorCategory.ERROR_CATEGORY_UNSUPPORTED;
      case DEADLINE_EXCEEDED -> ErrorCategory.ERROR_CATEGORY_TIMEOUT;
      case CANCELLED -> ErrorCategory.ERROR_CATEGORY_CANCELLED;
      case UNAVAILABLE -> ErrorCategory.ERROR_CATEGORY_NETWORK;
      default -> ErrorCategory.ERROR_CATEGORY_OTHER;
    };
  }
}
