package interlingua;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.BadRequest;
import com.google.rpc.BadRequest.FieldViolation;
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
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;

/**
 * How every call of a {@link Client} fails.
 *
 * <p>Its message is the server's sentence and its place, "… (at /target)", which hold no content: what the provider said is in {@code
 * canonical().getProviderMessage()}, and does not belong in a log.
 */
public final class InterlinguaException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient Status status;
  private final transient List<Any> details;
  private final Error canonical;

  /** The error of a call, whatever the transport threw. */
  public static InterlinguaException of(Throwable problem) {
    if (problem instanceof InterlinguaException known) {
      return known;
    }
    com.google.rpc.Status told = StatusProto.fromThrowable(problem);
    List<Any> details = told == null ? List.of() : List.copyOf(told.getDetailsList());
    return new InterlinguaException(Status.fromThrowable(problem), details, problem);
  }

  private InterlinguaException(Status status, List<Any> details, Throwable cause) {
    super(status.getDescription(), cause);
    this.status = status;
    this.details = details;
    this.canonical = detail(details, Error.class).orElse(null);
  }

  /** Whose fault it is and what kind. A failure that is not the server's has the category of its status. */
  public ErrorCategory category() {
    ErrorCategory told = canonical == null ? categoryOf(status.getCode()) : canonical.getCategory();
    return told == ErrorCategory.UNRECOGNIZED ? ErrorCategory.ERROR_CATEGORY_OTHER : told;
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
    return canonical == null ? mayPass(status) : canonical.getRetryable();
  }

  /** How long to wait before that, when the server said so. */
  public Optional<Duration> retryAfter() {
    return detail(details, RetryInfo.class)
        .map(RetryInfo::getRetryDelay)
        .map(delay -> Duration.ofSeconds(delay.getSeconds(), delay.getNanos()));
  }

  /** The report of a refused projection. Details are cut to 6,000 bytes: see {@link #lossEntries}. */
  public List<LossEntry> loss() {
    return canonical == null ? List.of() : canonical.getLossList();
  }

  /** How many entries the report had. */
  public int lossEntries() {
    return detail(details, ErrorInfo.class)
        .map(facts -> facts.getMetadataOrDefault("loss_entries", "0"))
        .filter(count -> count.matches("[0-9]{1,9}"))
        .map(Integer::valueOf)
        .orElse(0);
  }

  /** The broken rules of an invalid request. */
  public List<Violation> violations() {
    List<FieldViolation> broken =
        detail(details, BadRequest.class).map(BadRequest::getFieldViolationsList).orElse(List.of());
    return broken.stream().map(InterlinguaException::violation).toList();
  }

  /** What was paid for an answer that did not come to its end. */
  public Optional<Usage> usage() {
    return detail(details, Usage.class);
  }

  /** The whole error as the server gave it; empty when the failure is not the server's. */
  public Optional<Error> canonical() {
    return Optional.ofNullable(canonical);
  }

  private static Violation violation(FieldViolation broken) {
    return Violation.newBuilder()
        .setRule(broken.getReason())
        .setPath(broken.getField())
        .setMessage(broken.getDescription())
        .build();
  }

  /**
   * Whether the same call may succeed later, of a status that comes without details. What TLS refuses, such as a
   * certificate or a server without TLS, stays refused until somebody changes the configuration.
   */
  private static boolean mayPass(Status status) {
    return switch (status.getCode()) {
      case DEADLINE_EXCEEDED -> true;
      case UNAVAILABLE ->
          Stream.iterate(status.getCause(), Objects::nonNull, Throwable::getCause)
              .noneMatch(SSLException.class::isInstance);
      default -> false;
    };
  }

  /** The detail of a kind. One that cannot be read is as good as none. */
  private static <T extends Message> Optional<T> detail(List<Any> details, Class<T> kind) {
    try {
      Optional<Any> found = details.stream().filter(detail -> detail.is(kind)).findFirst();
      return found.isPresent() ? Optional.of(found.get().unpack(kind)) : Optional.empty();
    } catch (InvalidProtocolBufferException problem) {
      return Optional.empty();
    }
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
