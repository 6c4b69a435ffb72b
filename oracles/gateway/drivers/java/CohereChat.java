import com.cohere.api.Cohere;
import com.cohere.api.errors.TooManyRequestsError;
import com.cohere.api.resources.v2.requests.V2ChatRequest;
import com.cohere.api.resources.v2.requests.V2ChatStreamRequest;
import com.cohere.api.resources.v2.types.V2ChatStreamResponse;
import com.cohere.api.types.AssistantMessage;
import com.cohere.api.types.AssistantMessageV2Content;
import com.cohere.api.types.ChatMessageV2;
import com.cohere.api.types.ChatTextContent;
import com.cohere.api.types.Content;
import com.cohere.api.types.ImageContent;
import com.cohere.api.types.ImageUrl;
import com.cohere.api.types.JsonResponseFormatV2;
import com.cohere.api.types.ResponseFormatV2;
import com.cohere.api.types.ToolCallV2;
import com.cohere.api.types.ToolCallV2Function;
import com.cohere.api.types.ToolMessageV2;
import com.cohere.api.types.ToolMessageV2Content;
import com.cohere.api.types.ToolV2;
import com.cohere.api.types.ToolV2Function;
import com.cohere.api.types.Usage;
import com.cohere.api.types.UserMessageV2;
import com.cohere.api.types.UserMessageV2Content;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.Closeable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** cohere-java, Chat v2. */
final class CohereChat implements Sdk {
  private final Cohere client;

  CohereChat(String url) {
    client = Cohere.builder().token("none").url(url).maxRetries(0).build();
  }

  @Override
  public Understood ask(Asking asking, Object turn) throws Exception {
    List<ChatMessageV2> messages = messages(asking, (AssistantMessage) turn);
    if (asking.stream()) {
      return streamed(asking, messages);
    }
    var request = V2ChatRequest.builder().model(asking.model()).messages(messages);
    tools(asking).ifPresent(request::tools);
    format(asking).ifPresent(request::responseFormat);
    var answer = client.v2().chat(request.build());
    StringBuilder text = new StringBuilder();
    answer.getMessage().getContent().orElse(List.of())
        .forEach(part -> part.getText().ifPresent(told -> text.append(told.getText())));
    return understood(
        answer.getMessage().getToolPlan().orElse(""),
        text.toString(),
        answer.getMessage().getToolCalls().orElse(List.of()),
        answer.getUsage());
  }

  private Understood streamed(Asking asking, List<ChatMessageV2> messages) throws Exception {
    StringBuilder plan = new StringBuilder();
    StringBuilder text = new StringBuilder();
    List<ToolCallV2> calls = new ArrayList<>();
    List<StringBuilder> inputs = new ArrayList<>();
    Optional<Usage> usage = Optional.empty();
    for (V2ChatStreamResponse event : stream(asking, messages)) {
      event.getToolPlanDelta()
          .flatMap(told -> told.getDelta())
          .flatMap(delta -> delta.getMessage())
          .flatMap(message -> message.getToolPlan())
          .ifPresent(plan::append);
      textOf(event).ifPresent(text::append);
      event.getToolCallStart()
          .flatMap(told -> told.getDelta())
          .flatMap(delta -> delta.getMessage())
          .flatMap(message -> message.getToolCalls())
          .ifPresent(
              call -> {
                calls.add(call);
                inputs.add(new StringBuilder());
              });
      event.getToolCallDelta()
          .flatMap(told -> told.getDelta())
          .flatMap(delta -> delta.getMessage())
          .flatMap(message -> message.getToolCalls())
          .flatMap(call -> call.getFunction())
          .flatMap(function -> function.getArguments())
          .ifPresent(part -> inputs.get(inputs.size() - 1).append(part));
      if (event.isMessageEnd()) {
        usage = event.getMessageEnd().flatMap(end -> end.getDelta()).flatMap(delta -> delta.getUsage());
      }
    }
    List<ToolCallV2> whole = new ArrayList<>();
    for (int place = 0; place < calls.size(); place++) {
      String name = calls.get(place).getFunction().flatMap(function -> function.getName()).orElse("");
      var function = ToolCallV2Function.builder().name(name).arguments(inputs.get(place).toString()).build();
      whole.add(ToolCallV2.builder().id(calls.get(place).getId()).function(function).build());
    }
    return understood(plan.toString(), text.toString(), whole, usage);
  }

  private static Optional<String> textOf(V2ChatStreamResponse event) {
    return event.getContentDelta()
        .flatMap(told -> told.getDelta())
        .flatMap(delta -> delta.getMessage())
        .flatMap(message -> message.getContent())
        .flatMap(content -> content.getText());
  }

  private Iterable<V2ChatStreamResponse> stream(Asking asking, List<ChatMessageV2> messages) {
    var request = V2ChatStreamRequest.builder().model(asking.model()).messages(messages);
    tools(asking).ifPresent(request::tools);
    format(asking).ifPresent(request::responseFormat);
    return client.v2().chatStream(request.build());
  }

  private static Understood understood(String plan, String text, List<ToolCallV2> called, Optional<Usage> usage)
      throws Exception {
    List<Call> calls = new ArrayList<>();
    for (ToolCallV2 call : called) {
      ToolCallV2Function function = call.getFunction().orElseThrow();
      calls.add(
          new Call(call.getId(), function.getName().orElse(""), Driver.parsed(function.getArguments().orElse("{}"))));
    }
    var turn = AssistantMessage.builder();
    if (!text.isEmpty()) {
      turn.content(AssistantMessageV2Content.of(text));
    }
    if (!plan.isEmpty()) {
      turn.toolPlan(plan);
    }
    if (!called.isEmpty()) {
      turn.toolCalls(called);
    }
    double tokens = usage.flatMap(told -> told.getBilledUnits()).flatMap(units -> units.getOutputTokens()).orElse(0.0);
    return new Understood(plan + text, calls, (long) tokens, turn.build());
  }

  private static List<ChatMessageV2> messages(Asking asking, AssistantMessage turn) {
    var content = UserMessageV2Content.of(asking.question());
    if (asking.picture() != null) {
      var url = ImageUrl.builder().url("data:image/png;base64," + asking.picture()).build();
      content =
          UserMessageV2Content.of(
              List.of(
                  Content.text(ChatTextContent.builder().text(asking.question()).build()),
                  Content.imageUrl(ImageContent.builder().imageUrl(url).build())));
    }
    List<ChatMessageV2> messages = new ArrayList<>();
    messages.add(ChatMessageV2.user(UserMessageV2.builder().content(content).build()));
    if (turn != null) {
      messages.add(ChatMessageV2.assistant(turn));
    }
    for (Result result : asking.results()) {
      messages.add(
          ChatMessageV2.tool(
              ToolMessageV2.builder().toolCallId(result.id()).content(ToolMessageV2Content.of(result.output())).build()));
    }
    return messages;
  }

  private static Optional<List<ToolV2>> tools(Asking asking) {
    return Optional.ofNullable(asking.tool())
        .map(
            tool ->
                ToolV2Function.builder().name(tool.name()).parameters(members(tool.parameters())).build())
        .map(function -> List.of(ToolV2.builder().function(function).build()));
  }

  private static Optional<ResponseFormatV2> format(Asking asking) {
    return Optional.ofNullable(asking.schema())
        .map(schema -> JsonResponseFormatV2.builder().jsonSchema(members(schema)).build())
        .map(ResponseFormatV2::jsonObject);
  }

  private static Map<String, Object> members(JsonNode schema) {
    return Driver.JSON.convertValue(schema, new TypeReference<Map<String, Object>>() {});
  }

  @Override
  public String leave(Asking asking) throws Exception {
    Iterable<V2ChatStreamResponse> events = stream(asking, messages(asking, null));
    for (V2ChatStreamResponse event : events) {
      Optional<String> text = textOf(event);
      if (text.isPresent()) {
        ((Closeable) events).close();
        return text.get();
      }
    }
    return "";
  }

  @Override
  public int limit(Throwable problem) {
    return problem instanceof TooManyRequestsError limited ? limited.statusCode() : 0;
  }

  @Override
  public List<String> models() {
    List<String> names = new ArrayList<>();
    client.models().list().getModels().forEach(model -> names.add(model.getName().orElse("")));
    return names;
  }
}
