import com.google.genai.Client;
import com.google.genai.ResponseStream;
import com.google.genai.errors.ClientException;
import com.google.genai.types.Content;
import com.google.genai.types.FunctionDeclaration;
import com.google.genai.types.FunctionResponse;
import com.google.genai.types.GenerateContentConfig;
import com.google.genai.types.GenerateContentResponse;
import com.google.genai.types.HttpOptions;
import com.google.genai.types.HttpRetryOptions;
import com.google.genai.types.ListModelsConfig;
import com.google.genai.types.Part;
import com.google.genai.types.Tool;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** google-genai. */
final class Gemini implements Sdk {
  private final Client client;

  Gemini(String url) {
    var once = HttpRetryOptions.builder().attempts(1).build();
    var options = HttpOptions.builder().baseUrl(url).retryOptions(once).build();
    client = Client.builder().apiKey("none").httpOptions(options).build();
  }

  @Override
  public Understood ask(Asking asking, Object turn) {
    StringBuilder text = new StringBuilder();
    List<Call> calls = new ArrayList<>();
    List<Part> parts = new ArrayList<>();
    long tokens = 0;
    for (GenerateContentResponse chunk : chunks(asking, (Content) turn)) {
      tokens = chunk.usageMetadata().flatMap(usage -> usage.candidatesTokenCount()).orElse(0);
      for (var candidate : chunk.candidates().orElse(List.of())) {
        candidate.content().flatMap(content -> content.parts()).ifPresent(parts::addAll);
      }
    }
    for (Part part : parts) {
      if (!part.thought().orElse(false)) {
        part.text().ifPresent(text::append);
      }
      part.functionCall()
          .ifPresent(call -> calls.add(new Call(call.id().orElse(""), call.name().get(), call.args().orElse(Map.of()))));
    }
    return new Understood(text.toString(), calls, tokens, Content.builder().role("model").parts(parts).build());
  }

  private List<GenerateContentResponse> chunks(Asking asking, Content turn) {
    if (!asking.stream()) {
      return List.of(client.models.generateContent(asking.model(), contents(asking, turn), config(asking)));
    }
    List<GenerateContentResponse> chunks = new ArrayList<>();
    try (var stream = client.models.generateContentStream(asking.model(), contents(asking, turn), config(asking))) {
      stream.forEach(chunks::add);
    }
    return chunks;
  }

  private static List<Content> contents(Asking asking, Content turn) {
    List<Part> parts = new ArrayList<>();
    parts.add(Part.fromText(asking.question()));
    if (asking.picture() != null) {
      parts.add(Part.fromBytes(Base64.getDecoder().decode(asking.picture()), "image/png"));
    }
    List<Content> contents = new ArrayList<>();
    contents.add(Content.builder().role("user").parts(parts).build());
    if (turn != null) {
      List<Part> results = new ArrayList<>();
      for (Result result : asking.results()) {
        var response =
            FunctionResponse.builder()
                .id(result.id())
                .name(result.name())
                .response(Map.of("output", result.output()))
                .build();
        results.add(Part.builder().functionResponse(response).build());
      }
      contents.add(turn);
      contents.add(Content.builder().role("user").parts(results).build());
    }
    return contents;
  }

  private static GenerateContentConfig config(Asking asking) {
    var config = GenerateContentConfig.builder();
    if (asking.tool() != null) {
      var declared =
          FunctionDeclaration.builder()
              .name(asking.tool().name())
              .parametersJsonSchema(asking.tool().parameters())
              .build();
      config.tools(Tool.builder().functionDeclarations(declared).build());
    }
    if (asking.schema() != null) {
      config.responseMimeType("application/json").responseJsonSchema(asking.schema());
    }
    return config.build();
  }

  @Override
  public String leave(Asking asking) {
    try (ResponseStream<GenerateContentResponse> stream =
        client.models.generateContentStream(asking.model(), contents(asking, null), config(asking))) {
      for (GenerateContentResponse chunk : stream) {
        if (chunk.text() != null && !chunk.text().isEmpty()) {
          return chunk.text();
        }
      }
    }
    return "";
  }

  @Override
  public int limit(Throwable problem) {
    return problem instanceof ClientException refused && refused.code() == 429 ? 429 : 0;
  }

  @Override
  public List<String> models() {
    List<String> names = new ArrayList<>();
    client.models.list(ListModelsConfig.builder().build())
        .forEach(model -> names.add(model.name().get().replaceFirst("^models/", "")));
    return names;
  }

  @Override
  public long count(Asking asking) {
    return client.models.countTokens(asking.model(), asking.question(), null).totalTokens().orElse(0);
  }
}
