import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.JsonValue;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.errors.RateLimitException;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.messages.Base64ImageSource;
import com.anthropic.models.messages.ContentBlock;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.JsonOutputFormat;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCountTokensParams;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.OutputConfig;
import com.anthropic.models.messages.RawMessageStreamEvent;
import com.anthropic.models.messages.TextBlockParam;
import com.anthropic.models.messages.Tool;
import com.anthropic.models.messages.ToolResultBlockParam;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** anthropic-java, Messages. */
final class AnthropicMessages implements Sdk {
  private final AnthropicClient client;

  AnthropicMessages(String url) {
    client = AnthropicOkHttpClient.builder().baseUrl(url).apiKey("none").maxRetries(0).build();
  }

  @Override
  public Understood ask(Asking asking, Object turn) {
    Message answer = answer(request(asking, (Message) turn), asking.stream());
    StringBuilder text = new StringBuilder();
    List<Call> calls = new ArrayList<>();
    for (ContentBlock block : answer.content()) {
      block.text().ifPresent(part -> text.append(part.text()));
      block
          .toolUse()
          .ifPresent(call -> calls.add(new Call(call.id(), call.name(), call._input().convert(JsonNode.class))));
    }
    return new Understood(text.toString(), calls, answer.usage().outputTokens(), answer);
  }

  private Message answer(MessageCreateParams request, boolean stream) {
    if (!stream) {
      return client.messages().create(request);
    }
    MessageAccumulator whole = MessageAccumulator.create();
    try (StreamResponse<RawMessageStreamEvent> events = client.messages().createStreaming(request)) {
      events.stream().forEach(whole::accumulate);
    }
    return whole.message();
  }

  private static MessageCreateParams request(Asking asking, Message turn) {
    List<ContentBlockParam> content = new ArrayList<>();
    content.add(ContentBlockParam.ofText(TextBlockParam.builder().text(asking.question()).build()));
    if (asking.picture() != null) {
      content.add(
          ContentBlockParam.ofImage(
              Base64ImageSource.builder()
                  .mediaType(Base64ImageSource.MediaType.IMAGE_PNG)
                  .data(asking.picture())
                  .build()));
    }
    var request =
        MessageCreateParams.builder()
            .model(asking.model())
            .maxTokens(100)
            .addUserMessageOfContentBlockParams(content);
    if (turn != null) {
      List<ContentBlockParam> results = new ArrayList<>();
      for (Result result : asking.results()) {
        results.add(
            ContentBlockParam.ofToolResult(
                ToolResultBlockParam.builder().toolUseId(result.id()).content(result.output()).build()));
      }
      request.addMessage(turn).addUserMessageOfContentBlockParams(results);
    }
    if (asking.tool() != null) {
      JsonNode parameters = asking.tool().parameters();
      var properties =
          Tool.InputSchema.Properties.builder().additionalProperties(members(parameters.get("properties"))).build();
      var schema =
          Tool.InputSchema.builder()
              .properties(properties)
              .putAdditionalProperty("required", JsonValue.fromJsonNode(parameters.get("required")))
              .build();
      request.addTool(Tool.builder().name(asking.tool().name()).inputSchema(schema).build());
    }
    if (asking.schema() != null) {
      var schema = JsonOutputFormat.Schema.builder().additionalProperties(members(asking.schema())).build();
      request.outputConfig(
          OutputConfig.builder().format(JsonOutputFormat.builder().schema(schema).build()).build());
    }
    return request.build();
  }

  private static Map<String, JsonValue> members(JsonNode schema) {
    Map<String, JsonValue> members = new HashMap<>();
    schema.fields().forEachRemaining(member -> members.put(member.getKey(), JsonValue.fromJsonNode(member.getValue())));
    return members;
  }

  @Override
  public String leave(Asking asking) {
    try (StreamResponse<RawMessageStreamEvent> events = client.messages().createStreaming(request(asking, null))) {
      return events.stream()
          .flatMap(event -> event.contentBlockDelta().stream())
          .flatMap(event -> event.delta().text().stream())
          .map(delta -> delta.text())
          .findFirst()
          .orElse("");
    }
  }

  @Override
  public int limit(Throwable problem) {
    return problem instanceof RateLimitException limited ? limited.statusCode() : 0;
  }

  @Override
  public List<String> models() {
    List<String> names = new ArrayList<>();
    client.models().list().autoPager().forEach(model -> names.add(model.id()));
    return names;
  }

  @Override
  public long count(Asking asking) {
    var request = MessageCountTokensParams.builder().model(asking.model()).addUserMessage(asking.question()).build();
    return client.messages().countTokens(request).inputTokens();
  }
}
