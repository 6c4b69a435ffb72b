package interlingua;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import interlingua.v1.AdaptRequest;
import interlingua.v1.ErrorCategory;
import interlingua.v1.EstimateRequest;
import interlingua.v1.Events;
import interlingua.v1.GenerateInSessionRequest;
import interlingua.v1.GenerateInSessionResponse;
import interlingua.v1.GenerateRequest;
import interlingua.v1.GenerateStreamRequest;
import interlingua.v1.GenerateStreamResponse;
import interlingua.v1.InterlinguaServiceGrpc.InterlinguaServiceImplBase;
import interlingua.v1.ListModelsRequest;
import interlingua.v1.LossPolicy;
import interlingua.v1.LossSeverity;
import interlingua.v1.Request;
import interlingua.v1.Response;
import interlingua.v1.Role;
import interlingua.v1.RouteDecision;
import interlingua.v1.SessionServiceGrpc.SessionServiceImplBase;
import interlingua.v1.Side;
import interlingua.v1.StreamEvent;
import interlingua.v1.TextDeltaEvent;
import interlingua.v1.Usage;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.TlsChannelCredentials;
import io.grpc.stub.StreamObserver;
import java.io.File;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.function.Executable;

/**
 * The servers are started by clients/run.py: one that replays, and one with TLS and a token whose provider always asks to
 * wait. Without them the tests that need them are skipped.
 */
class ClientTest {
  private static final ListModelsRequest MODELS = ListModelsRequest.getDefaultInstance();

  private static Client serving() {
    return Client.connect(System.getenv("INTERLINGUA_SERVER"));
  }

  private static Client guarded(String token, boolean certificate) throws IOException {
    File folder = new File(System.getenv("INTERLINGUA_GUARDED_FILES"));
    var tls = TlsChannelCredentials.newBuilder().trustManager(new File(folder, "authority.pem"));
    if (certificate) {
      tls.keyManager(new File(folder, "client.pem"), new File(folder, "client.key"));
    }
    return Client.connect(System.getenv("INTERLINGUA_GUARDED"), tls.build(), token);
  }

  private static Client guarded() throws IOException {
    return guarded(System.getenv("INTERLINGUA_TOKEN"), true);
  }

  private static Request.Builder asking(String model) {
    return Request.newBuilder().setModel(model).addMessages(Messages.text(Role.ROLE_USER, "What is a ULID?"));
  }

  private static Request read(Client client, Request.Builder request) {
    return client.adapt(AdaptRequest.newBuilder().setRequest(request).build()).getRequest();
  }

  private static InterlinguaException failing(Executable call) {
    return assertThrows(InterlinguaException.class, call);
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "INTERLINGUA_GUARDED", matches = ".+")
  void tlsACertificateAndAToken() throws IOException {
    try (Client client = guarded()) {
      assertTrue(client.listModels(MODELS).getModelsCount() > 0);
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "INTERLINGUA_GUARDED", matches = ".+")
  void aStatusWithoutDetailsHasACategory() throws IOException {
    try (Client client = guarded("another", true)) {
      InterlinguaException problem = failing(() -> client.listModels(MODELS));
      assertEquals(ErrorCategory.ERROR_CATEGORY_AUTHENTICATION, problem.category());
      assertEquals(Optional.empty(), problem.canonical());
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "INTERLINGUA_GUARDED", matches = ".+")
  void aConnectionThatIsRefused() throws IOException {
    try (Client client = guarded(System.getenv("INTERLINGUA_TOKEN"), false)) {
      assertEquals(ErrorCategory.ERROR_CATEGORY_NETWORK, failing(() -> client.listModels(MODELS)).category());
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "INTERLINGUA_SERVER", matches = ".+")
  void tlsToAServerWithoutIt() {
    assertRefusedByTls(System.getenv("INTERLINGUA_SERVER"));
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "INTERLINGUA_GUARDED", matches = ".+")
  void aCertificateThatIsNotTrusted() {
    assertRefusedByTls(System.getenv("INTERLINGUA_GUARDED"));
  }

  private static void assertRefusedByTls(String address) {
    try (Client client = Client.connect(address, TlsChannelCredentials.create(), null)) {
      InterlinguaException problem = failing(() -> client.listModels(MODELS));
      assertEquals(ErrorCategory.ERROR_CATEGORY_NETWORK, problem.category());
      assertFalse(problem.isRetryable());
    }
  }

  @Test
  void nobodyListens() {
    try (Client client = Client.connect("127.0.0.1:1")) {
      InterlinguaException problem = failing(() -> client.listModels(MODELS));
      assertEquals(ErrorCategory.ERROR_CATEGORY_NETWORK, problem.category());
      assertTrue(problem.isRetryable());
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "INTERLINGUA_GUARDED", matches = ".+")
  void aProviderThatAsksToWait() throws IOException {
    try (Client client = guarded()) {
      var request = GenerateRequest.newBuilder().setRequest(asking("anthropic:claude-sonnet-4-6")).build();
      InterlinguaException problem = failing(() -> client.generate(request));
      assertEquals(ErrorCategory.ERROR_CATEGORY_RATE_LIMIT, problem.category());
      assertEquals(Status.Code.RESOURCE_EXHAUSTED, problem.status().getCode());
      assertTrue(problem.isRetryable());
      assertEquals(Optional.of(Duration.ofSeconds(7)), problem.retryAfter());
      assertEquals("not so fast with the pumps", problem.canonical().orElseThrow().getProviderMessage());
      assertFalse(problem.toString().contains("pumps") || problem.getCause().toString().contains("pumps"));
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "INTERLINGUA_SERVER", matches = ".+")
  void anInvalidRequestSaysWhere() {
    try (Client client = serving()) {
      Request.Builder request = asking("openai:gpt-4.1");
      request.getMessagesBuilder(0).clearRole();
      InterlinguaException problem = failing(() -> read(client, request));
      assertEquals(ErrorCategory.ERROR_CATEGORY_INVALID_REQUEST, problem.category());
      assertEquals("/messages/0/role", problem.path());
      assertEquals("/messages/0/role", problem.violations().get(0).getPath());
      assertTrue(problem.getMessage().endsWith(" (at /messages/0/role)"));
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "INTERLINGUA_SERVER", matches = ".+")
  void aRefusedLossBringsItsReport() {
    try (Client client = serving()) {
      AdaptRequest.Builder question =
          AdaptRequest.newBuilder()
              .setRequest(asking("openai:gpt-4.1").setTopK(5))
              .setTarget(Side.newBuilder().setAdapter("openai_chat"))
              .setLossPolicy(LossPolicy.newBuilder().setStrict(LossSeverity.LOSS_SEVERITY_WEAKENED));
      InterlinguaException problem = failing(() -> client.adapt(question.build()));
      assertEquals(ErrorCategory.ERROR_CATEGORY_LOSS_REFUSED, problem.category());
      assertEquals(1, problem.lossEntries());
      assertEquals("/top_k", problem.loss().get(0).getPath());
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "INTERLINGUA_SERVER", matches = ".+")
  void aDeadline() {
    try (Client client = serving()) {
      InterlinguaException problem = failing(() -> client.withDeadline(Duration.ofNanos(1)).listModels(MODELS));
      assertEquals(ErrorCategory.ERROR_CATEGORY_TIMEOUT, problem.category());
      assertTrue(problem.isRetryable());
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "INTERLINGUA_SERVER", matches = ".+")
  void aStream() {
    try (Client client = serving();
        var pieces = client.generateStream(
            GenerateStreamRequest.newBuilder().setRequest(asking("replay:claude-sonnet-4-6")).build())) {
      StringBuilder said = new StringBuilder();
      Response whole = null;
      for (var piece : pieces) {
        said.append(piece.getEvent().getTextDelta().getText());
        whole = piece.getEvent().getMessageComplete().getResponse();
      }
      assertFalse(said.isEmpty());
      assertEquals(said.toString(), whole.getMessage().getContent(0).getText().getText());
    }
  }

  /** A server whose answer is the decision and one message of two events, for those who ask for that. */
  private static final class Batching extends InterlinguaServiceImplBase {
    private static final Events TOGETHER = Events.newBuilder().addEvents(delta("A")).addEvents(delta("B")).build();
    private static final Events TEXTS = Events.newBuilder().addEventsJson("1").addEventsJson("2").build();

    @Override
    public void generateStream(GenerateStreamRequest request, StreamObserver<GenerateStreamResponse> answer) {
      var message = GenerateStreamResponse.newBuilder();
      if (request.getBatched()) {
        answer.onNext(message.setDecision(RouteDecision.getDefaultInstance()).build());
        answer.onNext(message.setEvents(request.getJsonOutput() ? TEXTS : TOGETHER).build());
      }
      answer.onCompleted();
    }
  }

  private static StreamEvent delta(String text) {
    return StreamEvent.newBuilder().setTextDelta(TextDeltaEvent.newBuilder().setText(text)).build();
  }

  @Test
  void eventsThatTravelTogetherAreGivenOneByOne() throws IOException {
    Server server = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
        .addService(new Batching())
        .build()
        .start();
    try (Client client = Client.connect("127.0.0.1:" + server.getPort())) {
      var request = GenerateStreamRequest.newBuilder();
      var piece = GenerateStreamResponse.newBuilder();
      var decision = piece.setDecision(RouteDecision.getDefaultInstance()).build();
      var events = List.of(decision, piece.setEvent(delta("A")).build(), piece.setEvent(delta("B")).build());
      var texts = List.of(decision, piece.setEventJson("1").build(), piece.setEventJson("2").build());
      var together = List.of(decision, piece.setEvents(Batching.TOGETHER).build());
      assertEquals(events, all(client.generateStream(request.build())));
      assertEquals(texts, all(client.generateStream(request.setJsonOutput(true).build())));
      assertEquals(together, all(client.generateStream(request.setJsonOutput(false).setBatched(true).build())));
    } finally {
      server.shutdownNow();
    }
  }

  @Test
  void eventsOfASessionThatTravelTogetherAreGivenOneByOne() throws IOException {
    var texts = Events.newBuilder().addEventsJson("1").addEventsJson("2").build();
    Server server = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
        .addService(new SessionServiceImplBase() {
          @Override
          public void generateInSession(
              GenerateInSessionRequest request, StreamObserver<GenerateInSessionResponse> answer) {
            if (request.getBatched()) {
              answer.onNext(GenerateInSessionResponse.newBuilder().setEvents(texts).build());
            }
            answer.onCompleted();
          }
        })
        .build()
        .start();
    try (Client client = Client.connect("127.0.0.1:" + server.getPort())) {
      var request = GenerateInSessionRequest.newBuilder().setSessionId("s");
      var piece = GenerateInSessionResponse.newBuilder();
      var apart = List.of(piece.setEventJson("1").build(), piece.setEventJson("2").build());
      assertEquals(apart, all(client.generateInSession(request.build())));
      assertEquals(
          List.of(piece.setEvents(texts).build()), all(client.generateInSession(request.setBatched(true).build())));
    } finally {
      server.shutdownNow();
    }
  }

  private static <T> List<T> all(Pieces<T> pieces) {
    List<T> found = new ArrayList<>();
    try (pieces) {
      pieces.forEach(found::add);
    }
    return found;
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "INTERLINGUA_SERVER", matches = ".+")
  void closingThePiecesCancelsTheCall() {
    try (Client client = serving()) {
      var pieces = client.generateStream(
          GenerateStreamRequest.newBuilder().setRequest(asking("replay:claude-sonnet-4-6")).build());
      assertTrue(pieces.hasNext());
      pieces.close();
      InterlinguaException problem = failing(() -> pieces.forEach(piece -> {}));
      assertEquals(ErrorCategory.ERROR_CATEGORY_CANCELLED, problem.category());
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "INTERLINGUA_GUARDED", matches = ".+")
  void aStreamThatFails() throws IOException {
    var request = GenerateStreamRequest.newBuilder().setRequest(asking("anthropic:claude-sonnet-4-6")).build();
    try (Client client = guarded(); var pieces = client.generateStream(request)) {
      assertEquals(ErrorCategory.ERROR_CATEGORY_RATE_LIMIT, failing(pieces::hasNext).category());
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "INTERLINGUA_SERVER", matches = ".+")
  void integersOf64BitsAndBeyond() {
    try (Client client = serving()) {
      ObjectNode beyond = (ObjectNode) Json.read("{\"beyond\": 18446744073709551617}");
      Request.Builder request = asking("openai:gpt-4.1").setSeed(Long.MAX_VALUE);
      Json.setRest(request.getMessagesBuilder(0), beyond);
      Request back = read(client, request);
      assertEquals(Long.MAX_VALUE, back.getSeed());
      assertEquals(beyond, Json.rest(back.getMessages(0)));
    }
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "INTERLINGUA_SERVER", matches = ".+")
  void decimals() {
    try (Client client = serving()) {
      var answer = client.estimate(
          EstimateRequest.newBuilder()
              .setUsage(Usage.newBuilder().setInputTokens(1).setOutputTokens(3))
              .setPriceJson("{\"input_per_mtok_usd\": \"0.1\", \"output_per_mtok_usd\": \"0.2\"}")
              .build());
      assertEquals(new BigDecimal("0.0000007"), Json.decimal(answer.getCost().getLikelyUsd()));
    }
  }

  @Test
  void sumsOfDecimalsAreExact() {
    assertEquals(new BigDecimal("0.3"), Json.decimal("0.1").add(Json.decimal("0.2")));
    for (String wrong : new String[] {"1e-7", "", "0x1", "NaN", "1."}) {
      assertThrows(NumberFormatException.class, () -> Json.decimal(wrong));
    }
  }

  @Test
  void freeJsonIsExact() {
    String written = "{\"id\":18446744073709551617,\"price\":0.1234567890123456789,\"tenth\":0.10,\"large\":1E+400}";
    assertEquals(written, Json.write(Json.read(written)));
    assertNull(Json.read(""));
    assertThrows(IllegalArgumentException.class, () -> Json.read("{"));
    assertThrows(IllegalArgumentException.class, () -> Json.read("{} {}"));
  }

  @Test
  @EnabledIfEnvironmentVariable(named = "INTERLINGUA_SERVER", matches = ".+")
  void anEditedFieldStandsOverTheRest() {
    try (Client client = serving()) {
      String rest = "{\"seed\": 99999999999999999999999, \"holograms\": true}";
      Request.Builder edited = read(client, asking("openai:gpt-4.1").setRestJson(rest)).toBuilder().setSeed(5);
      assertEquals("/rest_json/seed", failing(() -> read(client, edited)).path());
      assertEquals("{\"holograms\":true}", Json.write(Json.rest(edited)));
      ObjectNode stale = (ObjectNode) Json.read("{\"seed\": 6}");
      assertThrows(IllegalArgumentException.class, () -> Json.setRest(edited, stale));
      Json.setRest(edited, Json.rest(edited));
      Request back = read(client, edited);
      assertEquals(5, back.getSeed());
      assertEquals("{\"holograms\":true}", back.getRestJson());
    }
  }
}
