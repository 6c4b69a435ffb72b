package interlingua.examples;

import interlingua.Client;
import interlingua.InterlinguaException;
import interlingua.Json;
import interlingua.Messages;
import interlingua.v1.AdaptRequest;
import interlingua.v1.ContentBlock;
import interlingua.v1.GenerateStreamRequest;
import interlingua.v1.GenerateStreamResponse;
import interlingua.v1.ImageBlock;
import interlingua.v1.LossEntry;
import interlingua.v1.LossPolicy;
import interlingua.v1.LossSeverity;
import interlingua.v1.MediaSource;
import interlingua.v1.MediaSourceKind;
import interlingua.v1.Request;
import interlingua.v1.Response;
import interlingua.v1.Role;
import interlingua.v1.RouteCandidate;
import interlingua.v1.RouteRequest;
import interlingua.v1.Side;
import interlingua.v1.SideEffects;
import interlingua.v1.Tool;
import interlingua.v1.ToolUseBlock;
import io.grpc.InsecureChannelCredentials;
import java.math.BigDecimal;
import java.util.List;

/**
 * The tour: a streamed answer with a tool loop, Route, Adapt, a typed error, and a model that is swapped in
 * mid-conversation. {@code interlingua serve --replay} answers it without a key and without a network.
 */
public final class Tour {
  private static final String FIRST = "replay:claude-opus-4-8";
  private static final String SECOND = "replay:gpt-5.4";
  private static final String PHOTO =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

  private final Client client;
  private final Request.Builder conversation = Request.newBuilder().setMaxOutputTokens(1024);
  private BigDecimal spent = BigDecimal.ZERO;

  private Tour(Client client) {
    this.client = client;
  }

  public static void main(String[] arguments) {
    String token = System.getenv("INTERLINGUA_TOKEN");
    try (Client client = Client.connect(arguments[0], InsecureChannelCredentials.create(), token)) {
      new Tour(client).play();
    }
  }

  private void play() {
    conversation.addMessages(Messages.text(Role.ROLE_SYSTEM, "You watch the pumps of a water works."));
    conversation.addTools(
        Tool.newBuilder()
            .setName("read_gauge")
            .setDescription("Read the pressure of a pump. Pump B has a camera.")
            .setInputSchemaJson(
                """
                {"type": "object", "properties": {"pump": {"type": "string"}}, "required": ["pump"]}""")
            .setSideEffects(SideEffects.SIDE_EFFECTS_READ));
    conversation.addTools(
        Tool.newBuilder()
            .setName("file_log_entry")
            .setDescription("File an entry in the log of the shift.")
            .setInputSchemaJson("""
                {"type": "object", "properties": {"entry": {"type": "string"}}}""")
            .setSideEffects(SideEffects.SIDE_EFFECTS_WRITE));
    turn(FIRST, "Are pumps A and B all right?");

    System.out.printf("route %s,%s%n", FIRST, SECOND);
    RouteRequest question =
        RouteRequest.newBuilder()
            .setRequest(conversation)
            .setTarget(FIRST + "," + SECOND)
            .setPolicyJson("{\"version\": 1, \"chains\": true}")
            .setWithCandidates(true)
            .build();
    for (RouteCandidate candidate : client.route(question).getCandidatesList()) {
      System.out.printf("  %s would lose %d%n", candidate.getModel(), candidate.getLossCount());
    }

    System.out.printf("swap to %s%n", SECOND);
    AdaptRequest.Builder adapt =
        AdaptRequest.newBuilder().setRequest(conversation).setTarget(Side.newBuilder().setAdapter("openai_chat"));
    for (LossEntry entry : client.adapt(adapt.build()).getLossList()) {
      System.out.printf("  %s %s %s%n", Json.word(entry.getSeverity()), entry.getPath(), entry.getCode());
    }

    adapt.setLossPolicy(LossPolicy.newBuilder().setStrict(LossSeverity.LOSS_SEVERITY_WEAKENED));
    try {
      client.adapt(adapt.build());
      throw new IllegalStateException("the loss was not refused");
    } catch (InterlinguaException problem) {
      System.out.printf("refused: %s, %d entries%n", Json.word(problem.category()), problem.loss().size());
    }

    turn(SECOND, "Put that into the log of the shift.");
    System.out.printf("spent %s USD%n", spent.stripTrailingZeros().toPlainString());
  }

  /** Asks a model, carries its calls out, and asks again until it calls nothing more. */
  private void turn(String model, String words) {
    conversation.addMessages(Messages.text(Role.ROLE_USER, words));
    for (int round = 0; round < 5; round++) {
      Response response = ask(model);
      spent = spent.add(Json.decimal(response.getUsage().getCostUsd()));
      conversation.addMessages(response.getMessage());
      List<ToolUseBlock> calls = Messages.calls(response.getMessage());
      if (calls.isEmpty()) {
        return;
      }
      for (ToolUseBlock call : calls) {
        System.out.printf("  tool %s %s%n", call.getName(), call.getInputJson());
        conversation.addMessages(Messages.toolResult(call, run(call)));
      }
    }
  }

  /** Streams one answer. */
  private Response ask(String model) {
    System.out.printf("%s: ", model);
    Response response = null;
    var request = GenerateStreamRequest.newBuilder().setRequest(conversation).setTarget(model).build();
    try (var pieces = client.generateStream(request)) {
      for (GenerateStreamResponse piece : pieces) {
        switch (piece.getEvent().getEventCase()) {
          case TEXT_DELTA -> System.out.print(piece.getEvent().getTextDelta().getText());
          case MESSAGE_COMPLETE -> response = piece.getEvent().getMessageComplete().getResponse();
          default -> System.out.flush();
        }
      }
    }
    if (response == null) {
      throw new IllegalStateException("no response");
    }
    System.out.printf("%n  %s, %s USD%n", Json.word(response.getFinishReason()), response.getUsage().getCostUsd());
    return response;
  }

  /** Carries a call out. */
  private static List<ContentBlock> run(ToolUseBlock call) {
    if (call.getName().equals("file_log_entry")) {
      return List.of(Messages.textBlock("entry 2207 filed"));
    }
    if (Json.read(call.getInputJson()).path("pump").asText().equals("B")) {
      var source = MediaSource.newBuilder().setKind(MediaSourceKind.MEDIA_SOURCE_KIND_BASE64).setData(PHOTO);
      var image = ImageBlock.newBuilder().setSource(source).setMediaType("image/png");
      return List.of(ContentBlock.newBuilder().setImage(image).build());
    }
    return List.of(Messages.textBlock("4.1 bar"));
  }
}
