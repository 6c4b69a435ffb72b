import com.openai.core.http.StreamResponse;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.responses.EasyInputMessage;
import com.openai.models.responses.FunctionTool;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseFormatTextJsonSchemaConfig;
import com.openai.models.responses.ResponseInputContent;
import com.openai.models.responses.ResponseInputImage;
import com.openai.models.responses.ResponseInputItem;
import com.openai.models.responses.ResponseInputText;
import com.openai.models.responses.ResponseOutputItem;
import com.openai.models.responses.ResponseStreamEvent;
import com.openai.models.responses.ResponseTextConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** openai-java, Responses. */
final class OpenAiResponses extends OpenAiChat {
  OpenAiResponses(String url) {
    super(url);
  }

  @Override
  public Understood ask(Asking asking, Object turn) throws Exception {
    Response answer = answer(request(asking, (Response) turn), asking.stream());
    List<Call> calls = new ArrayList<>();
    for (ResponseOutputItem item : answer.output()) {
      if (item.functionCall().isPresent()) {
        var call = item.functionCall().get();
        calls.add(new Call(call.callId(), call.name(), Driver.parsed(call.arguments())));
      }
    }
    String text =
        answer.output().stream()
            .flatMap(item -> item.message().stream())
            .flatMap(message -> message.content().stream())
            .flatMap(part -> part.outputText().stream())
            .map(part -> part.text())
            .collect(Collectors.joining());
    return new Understood(text, calls, answer.usage().map(usage -> usage.outputTokens()).orElse(0L), answer);
  }

  private Response answer(ResponseCreateParams request, boolean stream) {
    if (!stream) {
      return client.responses().create(request);
    }
    ResponseAccumulator whole = ResponseAccumulator.create();
    try (StreamResponse<ResponseStreamEvent> events = client.responses().createStreaming(request)) {
      events.stream().forEach(whole::accumulate);
    }
    return whole.response();
  }

  private static ResponseCreateParams request(Asking asking, Response turn) {
    List<ResponseInputContent> content = new ArrayList<>();
    content.add(ResponseInputContent.ofInputText(ResponseInputText.builder().text(asking.question()).build()));
    if (asking.picture() != null) {
      content.add(
          ResponseInputContent.ofInputImage(
              ResponseInputImage.builder()
                  .detail(ResponseInputImage.Detail.AUTO)
                  .imageUrl("data:image/png;base64," + asking.picture())
                  .build()));
    }
    List<ResponseInputItem> items = new ArrayList<>();
    items.add(
        ResponseInputItem.ofEasyInputMessage(
            EasyInputMessage.builder()
                .role(EasyInputMessage.Role.USER)
                .contentOfResponseInputMessageContentList(content)
                .build()));
    if (turn != null) {
      for (ResponseOutputItem item : turn.output()) {
        item.message().map(ResponseInputItem::ofResponseOutputMessage).ifPresent(items::add);
        item.functionCall().map(ResponseInputItem::ofFunctionCall).ifPresent(items::add);
        item.reasoning().map(ResponseInputItem::ofReasoning).ifPresent(items::add);
      }
    }
    for (Result result : asking.results()) {
      items.add(
          ResponseInputItem.ofFunctionCallOutput(
              ResponseInputItem.FunctionCallOutput.builder().callId(result.id()).output(result.output()).build()));
    }
    var request = ResponseCreateParams.builder().model(asking.model()).inputOfResponse(items);
    if (asking.tool() != null) {
      var parameters =
          FunctionTool.Parameters.builder().additionalProperties(members(asking.tool().parameters())).build();
      request.addTool(FunctionTool.builder().name(asking.tool().name()).parameters(parameters).strict(false).build());
    }
    if (asking.schema() != null) {
      var schema =
          ResponseFormatTextJsonSchemaConfig.Schema.builder().additionalProperties(members(asking.schema())).build();
      var format = ResponseFormatTextJsonSchemaConfig.builder().name("n").schema(schema).strict(true).build();
      request.text(ResponseTextConfig.builder().format(format).build());
    }
    return request.build();
  }

  @Override
  public String leave(Asking asking) {
    try (StreamResponse<ResponseStreamEvent> events = client.responses().createStreaming(request(asking, null))) {
      return events.stream()
          .flatMap(event -> event.outputTextDelta().stream())
          .map(delta -> delta.delta())
          .findFirst()
          .orElse("");
    }
  }
}
