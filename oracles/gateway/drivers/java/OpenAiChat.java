import com.fasterxml.jackson.databind.JsonNode;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.http.StreamResponse;
import com.openai.errors.RateLimitException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.ResponseFormatJsonSchema;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionContentPart;
import com.openai.models.chat.completions.ChatCompletionContentPartImage;
import com.openai.models.chat.completions.ChatCompletionContentPartText;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessage;
import com.openai.models.chat.completions.ChatCompletionMessageFunctionToolCall;
import com.openai.models.chat.completions.ChatCompletionMessageToolCall;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.chat.completions.ChatCompletionUserMessageParam;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** openai-java, Chat Completions. */
class OpenAiChat implements Sdk {
  protected final OpenAIClient client;

  OpenAiChat(String url) {
    client = OpenAIOkHttpClient.builder().baseUrl(url + "/v1").apiKey("none").maxRetries(0).build();
  }

  @Override
  public Understood ask(Asking asking, Object turn) throws Exception {
    ChatCompletion answer = answer(request(asking, (ChatCompletionMessage) turn), asking.stream());
    ChatCompletionMessage message = answer.choices().get(0).message();
    List<Call> calls = new ArrayList<>();
    for (ChatCompletionMessageToolCall call : message.toolCalls().orElse(List.of())) {
      ChatCompletionMessageFunctionToolCall function = call.asFunction();
      calls.add(new Call(function.id(), function.function().name(), Driver.parsed(function.function().arguments())));
    }
    long tokens = answer.usage().map(usage -> usage.completionTokens()).orElse(0L);
    return new Understood(message.content().orElse(""), calls, tokens, message);
  }

  private ChatCompletion answer(ChatCompletionCreateParams request, boolean stream) {
    if (!stream) {
      return client.chat().completions().create(request);
    }
    var withUsage =
        request.toBuilder().streamOptions(ChatCompletionStreamOptions.builder().includeUsage(true).build()).build();
    ChatCompletionAccumulator whole = ChatCompletionAccumulator.create();
    try (StreamResponse<ChatCompletionChunk> chunks = client.chat().completions().createStreaming(withUsage)) {
      chunks.stream().forEach(whole::accumulate);
    }
    return whole.chatCompletion();
  }

  private static ChatCompletionCreateParams request(Asking asking, ChatCompletionMessage turn) {
    var request = ChatCompletionCreateParams.builder().model(asking.model()).addMessage(question(asking));
    if (turn != null) {
      request.addMessage(turn);
    }
    for (Result result : asking.results()) {
      request.addMessage(
          ChatCompletionToolMessageParam.builder().toolCallId(result.id()).content(result.output()).build());
    }
    if (asking.tool() != null) {
      var parameters = FunctionParameters.builder().additionalProperties(members(asking.tool().parameters())).build();
      request.addFunctionTool(FunctionDefinition.builder().name(asking.tool().name()).parameters(parameters).build());
    }
    if (asking.schema() != null) {
      var schema =
          ResponseFormatJsonSchema.JsonSchema.Schema.builder().additionalProperties(members(asking.schema())).build();
      var named = ResponseFormatJsonSchema.JsonSchema.builder().name("n").schema(schema).strict(true).build();
      request.responseFormat(ResponseFormatJsonSchema.builder().jsonSchema(named).build());
    }
    return request.build();
  }

  private static ChatCompletionUserMessageParam question(Asking asking) {
    var message = ChatCompletionUserMessageParam.builder();
    if (asking.picture() == null) {
      return message.content(asking.question()).build();
    }
    var url = ChatCompletionContentPartImage.ImageUrl.builder().url("data:image/png;base64," + asking.picture()).build();
    return message
        .contentOfArrayOfContentParts(
            List.of(
                ChatCompletionContentPart.ofText(
                    ChatCompletionContentPartText.builder().text(asking.question()).build()),
                ChatCompletionContentPart.ofImageUrl(ChatCompletionContentPartImage.builder().imageUrl(url).build())))
        .build();
  }

  static Map<String, JsonValue> members(JsonNode schema) {
    Map<String, JsonValue> members = new HashMap<>();
    schema.fields().forEachRemaining(member -> members.put(member.getKey(), JsonValue.fromJsonNode(member.getValue())));
    return members;
  }

  @Override
  public String leave(Asking asking) {
    try (var chunks = client.chat().completions().createStreaming(request(asking, null))) {
      return chunks.stream()
          .flatMap(chunk -> chunk.choices().stream())
          .flatMap(choice -> choice.delta().content().stream())
          .filter(text -> !text.isEmpty())
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
}
