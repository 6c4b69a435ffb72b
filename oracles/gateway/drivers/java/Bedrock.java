import com.fasterxml.jackson.databind.JsonNode;
import java.net.URI;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.document.Document;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.bedrockruntime.BedrockRuntimeAsyncClient;
import software.amazon.awssdk.services.bedrockruntime.BedrockRuntimeClient;
import software.amazon.awssdk.services.bedrockruntime.model.ContentBlock;
import software.amazon.awssdk.services.bedrockruntime.model.ConversationRole;
import software.amazon.awssdk.services.bedrockruntime.model.ConverseRequest;
import software.amazon.awssdk.services.bedrockruntime.model.ConverseStreamRequest;
import software.amazon.awssdk.services.bedrockruntime.model.ConverseStreamResponseHandler;
import software.amazon.awssdk.services.bedrockruntime.model.ImageSource;
import software.amazon.awssdk.services.bedrockruntime.model.Message;
import software.amazon.awssdk.services.bedrockruntime.model.OutputFormatStructure;
import software.amazon.awssdk.services.bedrockruntime.model.ReasoningContentBlock;
import software.amazon.awssdk.services.bedrockruntime.model.ThrottlingException;
import software.amazon.awssdk.services.bedrockruntime.model.ToolInputSchema;
import software.amazon.awssdk.services.bedrockruntime.model.ToolResultContentBlock;

/** The AWS SDK, Converse and ConverseStream. */
final class Bedrock implements Sdk {
  private final BedrockRuntimeClient client;
  private final BedrockRuntimeAsyncClient async;

  Bedrock(String url) {
    var credentials = StaticCredentialsProvider.create(AwsBasicCredentials.create("none", "none"));
    client =
        BedrockRuntimeClient.builder()
            .endpointOverride(URI.create(url))
            .region(Region.US_EAST_1)
            .credentialsProvider(credentials)
            .overrideConfiguration(config -> config.retryStrategy(retry -> retry.maxAttempts(1)))
            .build();
    async =
        BedrockRuntimeAsyncClient.builder()
            .endpointOverride(URI.create(url))
            .region(Region.US_EAST_1)
            .credentialsProvider(credentials)
            .overrideConfiguration(config -> config.retryStrategy(retry -> retry.maxAttempts(1)))
            .build();
  }

  @Override
  public Understood ask(Asking asking, Object turn) throws Exception {
    return asking.stream() ? streamed(request(asking, (Message) turn)) : whole(request(asking, (Message) turn));
  }

  private Understood whole(ConverseRequest request) {
    var answer = client.converse(request);
    return understood(answer.output().message(), answer.usage().outputTokens());
  }

  private static Understood understood(Message message, long tokens) {
    StringBuilder text = new StringBuilder();
    List<Call> calls = new ArrayList<>();
    for (ContentBlock block : message.content()) {
      if (block.text() != null) {
        text.append(block.text());
      } else if (block.toolUse() != null) {
        calls.add(new Call(block.toolUse().toolUseId(), block.toolUse().name(), block.toolUse().input().unwrap()));
      }
    }
    return new Understood(text.toString(), calls, tokens, message);
  }

  /** A block of a stream, as far as it has arrived. */
  private static final class Piece {
    private final StringBuilder text = new StringBuilder();
    private final StringBuilder reasoning = new StringBuilder();
    private String id;
    private String name;

    private ContentBlock block() throws Exception {
      if (id != null) {
        Document input = document(Driver.JSON.readTree(text.isEmpty() ? "{}" : text.toString()));
        return ContentBlock.fromToolUse(call -> call.toolUseId(id).name(name).input(input));
      }
      if (!reasoning.isEmpty()) {
        return ContentBlock.fromReasoningContent(
            ReasoningContentBlock.fromReasoningText(told -> told.text(reasoning.toString())));
      }
      return ContentBlock.fromText(text.toString());
    }
  }

  private Understood streamed(ConverseRequest request) throws Exception {
    Map<Integer, Piece> pieces = new TreeMap<>();
    long[] tokens = new long[1];
    var visitor =
        ConverseStreamResponseHandler.Visitor.builder()
            .onContentBlockStart(
                event -> {
                  Piece piece = pieces.computeIfAbsent(event.contentBlockIndex(), index -> new Piece());
                  if (event.start().toolUse() != null) {
                    piece.id = event.start().toolUse().toolUseId();
                    piece.name = event.start().toolUse().name();
                  }
                })
            .onContentBlockDelta(
                event -> {
                  Piece piece = pieces.computeIfAbsent(event.contentBlockIndex(), index -> new Piece());
                  if (event.delta().text() != null) {
                    piece.text.append(event.delta().text());
                  } else if (event.delta().toolUse() != null) {
                    piece.text.append(event.delta().toolUse().input());
                  } else if (event.delta().reasoningContent() != null && event.delta().reasoningContent().text() != null) {
                    piece.reasoning.append(event.delta().reasoningContent().text());
                  }
                })
            .onMetadata(event -> tokens[0] = event.usage().outputTokens())
            .build();
    async.converseStream(asStream(request), ConverseStreamResponseHandler.builder().subscriber(visitor).build()).get();
    List<ContentBlock> content = new ArrayList<>();
    for (Piece piece : pieces.values()) {
      content.add(piece.block());
    }
    return understood(Message.builder().role(ConversationRole.ASSISTANT).content(content).build(), tokens[0]);
  }

  private static ConverseStreamRequest asStream(ConverseRequest request) {
    return ConverseStreamRequest.builder()
        .modelId(request.modelId())
        .messages(request.messages())
        .toolConfig(request.toolConfig())
        .outputConfig(request.outputConfig())
        .build();
  }

  private static ConverseRequest request(Asking asking, Message turn) {
    List<ContentBlock> content = new ArrayList<>();
    content.add(ContentBlock.fromText(asking.question()));
    if (asking.picture() != null) {
      SdkBytes picture = SdkBytes.fromByteArray(Base64.getDecoder().decode(asking.picture()));
      content.add(ContentBlock.fromImage(image -> image.format("png").source(ImageSource.fromBytes(picture))));
    }
    List<Message> messages = new ArrayList<>();
    messages.add(Message.builder().role(ConversationRole.USER).content(content).build());
    if (turn != null) {
      List<ContentBlock> results = new ArrayList<>();
      for (Result result : asking.results()) {
        var output = ToolResultContentBlock.fromText(result.output());
        results.add(ContentBlock.fromToolResult(block -> block.toolUseId(result.id()).content(output)));
      }
      messages.add(turn);
      messages.add(Message.builder().role(ConversationRole.USER).content(results).build());
    }
    var request = ConverseRequest.builder().modelId(asking.model()).messages(messages);
    if (asking.tool() != null) {
      var schema = ToolInputSchema.fromJson(document(asking.tool().parameters()));
      request.toolConfig(
          config -> config.tools(tool -> tool.toolSpec(spec -> spec.name(asking.tool().name()).inputSchema(schema))));
    }
    if (asking.schema() != null) {
      var form = OutputFormatStructure.fromJsonSchema(named -> named.name("n").schema(asking.schema().toString()));
      request.outputConfig(config -> config.textFormat(format -> format.type("json_schema").structure(form)));
    }
    return request.build();
  }

  private static Document document(JsonNode value) {
    if (value.isObject()) {
      Map<String, Document> members = new LinkedHashMap<>();
      value.fields().forEachRemaining(member -> members.put(member.getKey(), document(member.getValue())));
      return Document.fromMap(members);
    }
    if (value.isArray()) {
      List<Document> items = new ArrayList<>();
      value.forEach(item -> items.add(document(item)));
      return Document.fromList(items);
    }
    if (value.isNumber()) {
      return Document.fromNumber(value.asText());
    }
    return value.isBoolean() ? Document.fromBoolean(value.booleanValue()) : Document.fromString(value.textValue());
  }

  @Override
  public String leave(Asking asking) throws Exception {
    CompletableFuture<String> first = new CompletableFuture<>();
    var visitor =
        ConverseStreamResponseHandler.Visitor.builder()
            .onContentBlockDelta(event -> first.complete(event.delta().text()))
            .build();
    var call =
        async.converseStream(
            asStream(request(asking, null)), ConverseStreamResponseHandler.builder().subscriber(visitor).build());
    call.whenComplete((done, problem) -> first.completeExceptionally(problem == null ? new IllegalStateException("no text") : problem));
    String text = first.get();
    call.cancel(true);
    return text;
  }

  @Override
  public int limit(Throwable problem) {
    return problem instanceof ThrottlingException limited ? limited.statusCode() : 0;
  }
}
