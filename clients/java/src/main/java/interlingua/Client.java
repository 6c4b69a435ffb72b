package interlingua;

import interlingua.v1.AdaptRequest;
import interlingua.v1.AdaptResponse;
import interlingua.v1.CheckRequest;
import interlingua.v1.CheckResponse;
import interlingua.v1.EstimateRequest;
import interlingua.v1.EstimateResponse;
import interlingua.v1.GenerateInSessionRequest;
import interlingua.v1.GenerateInSessionResponse;
import interlingua.v1.GenerateRequest;
import interlingua.v1.GenerateResponse;
import interlingua.v1.GenerateStreamRequest;
import interlingua.v1.GenerateStreamResponse;
import interlingua.v1.InterlinguaServiceGrpc;
import interlingua.v1.InterlinguaServiceGrpc.InterlinguaServiceBlockingStub;
import interlingua.v1.InterlinguaServiceGrpc.InterlinguaServiceStub;
import interlingua.v1.ListModelsRequest;
import interlingua.v1.ListModelsResponse;
import interlingua.v1.RouteRequest;
import interlingua.v1.RouteResponse;
import interlingua.v1.SessionServiceGrpc;
import interlingua.v1.SessionServiceGrpc.SessionServiceBlockingStub;
import io.grpc.ChannelCredentials;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.AbstractStub;
import io.grpc.stub.MetadataUtils;
import java.time.Duration;
import java.util.Iterator;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A connection to a server. It may be used by many threads at once.
 *
 * <p>Every method fails with an {@link InterlinguaException}.
 */
public final class Client implements AutoCloseable {
  /** The largest message that a server takes or gives unless it is told otherwise, in bytes. */
  public static final int MAX_MESSAGE_BYTES = 64 << 20;

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final ManagedChannel channel;
  private final ClientInterceptor headers;
  private final Duration deadline;

  private Client(ManagedChannel channel, ClientInterceptor headers, Duration deadline) {
    this.channel = channel;
    this.headers = headers;
    this.deadline = deadline;
  }

  /** A client of the server at {@code host:port}, in the clear. The connection itself is opened by the first call. */
  public static Client connect(String address) {
    return connect(address, InsecureChannelCredentials.create(), null);
  }

  /**
   * A client that connects as the credentials say, e.g. {@code TlsChannelCredentials.create()}.
   *
   * @param token sent with every call as {@code authorization: Bearer}; null for none. Without TLS it travels in the clear.
   */
  public static Client connect(String address, ChannelCredentials credentials, String token) {
    ManagedChannel channel =
        Grpc.newChannelBuilder(address, credentials).maxInboundMessageSize(MAX_MESSAGE_BYTES).build();
    Metadata headers = new Metadata();
    if (token != null) {
      headers.put(AUTHORIZATION, "Bearer " + token);
    }
    return new Client(channel, MetadataUtils.newAttachHeadersInterceptor(headers), null);
  }

  /** The same connection, with a limit of time for each call. */
  public Client withDeadline(Duration deadline) {
    return new Client(channel, headers, deadline);
  }

  /** Carries one value from any form to any other, with a complete account of what was lost. */
  public AdaptResponse adapt(AdaptRequest request) {
    return call(stub -> stub.adapt(request));
  }

  /** Tells which model should answer, why, and what each candidate would lose, take and cost. */
  public RouteResponse route(RouteRequest request) {
    return call(stub -> stub.route(request));
  }

  /** Routes unless told the model, asks the provider and gives its answer. */
  public GenerateResponse generate(GenerateRequest request) {
    return call(stub -> stub.generate(request));
  }

  /**
   * Does the same as {@link #generate} and gives the answer as it arrives. Closing the pieces cancels the call.
   *
   * <p>Events that arrived together travel in one message, and are given one by one; a request that itself says {@code
   * batched} gets them as they travel.
   */
  public Pieces<GenerateStreamResponse> generateStream(GenerateStreamRequest request) {
    GenerateStreamRequest asked = request.toBuilder().setBatched(true).build();
    return stream(stub -> apart(
        stub.generateStream(asked),
        message -> message.hasEvents() && !request.getBatched() ? oneByOne(message) : Stream.of(message)));
  }

  /**
   * Appends what is said, if anything is, and gives the model's answer as it arrives; it is appended too. Events travel as
   * those of {@link #generateStream} do, and closing the pieces cancels the call.
   */
  public Pieces<GenerateInSessionResponse> generateInSession(GenerateInSessionRequest request) {
    GenerateInSessionRequest asked = request.toBuilder().setBatched(true).build();
    return pieces(() -> apart(
        sessions().generateInSession(asked),
        message -> message.hasEvents() && !request.getBatched() ? oneByOne(message) : Stream.of(message)));
  }

  private static <T> Iterator<T> apart(Iterator<T> messages, Function<T, Stream<T>> pieces) {
    var ordered = Spliterators.spliteratorUnknownSize(messages, Spliterator.ORDERED);
    return StreamSupport.stream(ordered, false).flatMap(pieces).iterator();
  }

  private static Stream<GenerateInSessionResponse> oneByOne(GenerateInSessionResponse message) {
    var piece = GenerateInSessionResponse.newBuilder();
    return Stream.concat(
        message.getEvents().getEventsList().stream().map(event -> piece.setEvent(event).build()),
        message.getEvents().getEventsJsonList().stream().map(text -> piece.setEventJson(text).build()));
  }

  private static Stream<GenerateStreamResponse> oneByOne(GenerateStreamResponse message) {
    var piece = GenerateStreamResponse.newBuilder();
    return Stream.concat(
        message.getEvents().getEventsList().stream().map(event -> piece.setEvent(event).build()),
        message.getEvents().getEventsJsonList().stream().map(text -> piece.setEventJson(text).build()));
  }

  /** Tells how many tokens a request will take and what it will cost, or what an answer did cost. */
  public EstimateResponse estimate(EstimateRequest request) {
    return call(stub -> stub.estimate(request));
  }

  /** Tells which rules of the contract a value breaks. */
  public CheckResponse check(CheckRequest request) {
    return call(stub -> stub.check(request));
  }

  /** Lists the models of the server's registry. */
  public ListModelsResponse listModels(ListModelsRequest request) {
    return call(stub -> stub.listModels(request));
  }

  /** Calls any method of the service that gives one answer, e.g. {@code client.call(stub -> stub.check(request))}. */
  public <T> T call(Function<InterlinguaServiceBlockingStub, T> method) {
    return typed(() -> method.apply(stub()));
  }

  /** Calls any method of the service that streams its answer. Closing the pieces cancels the call. */
  public <T> Pieces<T> stream(Function<InterlinguaServiceBlockingStub, Iterator<T>> method) {
    return pieces(() -> method.apply(stub()));
  }

  /** Calls any method of the service of sessions that gives one answer, e.g. {@code createSession}. */
  public <T> T callSessions(Function<SessionServiceBlockingStub, T> method) {
    return typed(() -> method.apply(sessions()));
  }

  /** Calls any method of the service of sessions that streams its answer. Closing the pieces cancels the call. */
  public <T> Pieces<T> streamSessions(Function<SessionServiceBlockingStub, Iterator<T>> method) {
    return pieces(() -> method.apply(sessions()));
  }

  private static <T> Pieces<T> pieces(Supplier<Iterator<T>> method) {
    Context.CancellableContext call = Context.current().withCancellation();
    Context outside = call.attach();
    try {
      return typed(() -> new Pieces<>(method.get(), call));
    } finally {
      call.detach(outside);
    }
  }

  /**
   * The stub whose methods do not wait, AdaptStream among them. What its observers get in {@code onError}, {@link
   * InterlinguaException#of} makes into an error of this package.
   */
  public InterlinguaServiceStub async() {
    return prepared(InterlinguaServiceGrpc.newStub(channel));
  }

  /** Ends the connection and all calls on it. */
  @Override
  public void close() {
    channel.shutdownNow();
  }

  private SessionServiceBlockingStub sessions() {
    return prepared(SessionServiceGrpc.newBlockingStub(channel));
  }

  private InterlinguaServiceBlockingStub stub() {
    return prepared(InterlinguaServiceGrpc.newBlockingStub(channel));
  }

  private <S extends AbstractStub<S>> S prepared(S stub) {
    S authorized = stub.withInterceptors(headers);
    return deadline == null ? authorized : authorized.withDeadlineAfter(deadline);
  }

  static <T> T typed(Supplier<T> call) {
    try {
      return call.get();
    } catch (StatusRuntimeException problem) {
      throw InterlinguaException.of(problem);
    }
  }
}
