import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;

/** The official Java SDKs as clients of a gateway. What is asked and answered is told in ../README.md. */
public final class Driver {
  static final ObjectMapper JSON = new ObjectMapper();

  private static final Map<String, Function<String, Sdk>> SDKS =
      Map.of(
          "openai-chat", OpenAiChat::new,
          "openai-responses", OpenAiResponses::new,
          "anthropic", AnthropicMessages::new,
          "google-genai", Gemini::new,
          "bedrock", Bedrock::new,
          "cohere", CohereChat::new);

  private final Map<String, Sdk> connected = new HashMap<>();
  private final List<Object> turns = new ArrayList<>();

  public static void main(String[] arguments) throws Exception {
    PrintStream out = System.out;
    System.setOut(System.err); // nothing else may come between the lines
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    Driver driver = new Driver();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      out.println(JSON.writeValueAsString(driver.carryOut(JSON.readTree(line))));
      out.flush();
    }
    System.exit(0); // the SDKs keep threads
  }

  private Map<String, Object> carryOut(JsonNode message) {
    String name = message.get("sdk").asText();
    String url = message.get("url").asText();
    Sdk sdk = connected.computeIfAbsent(name + " " + url, unknown -> SDKS.get(name).apply(url));
    try {
      return output(sdk, message.get("do").asText(), asking(message), message.get("turn"));
    } catch (Exception problem) {
      boolean wraps = problem instanceof CompletionException || problem instanceof ExecutionException;
      Throwable cause = wraps ? problem.getCause() : problem;
      int status = sdk.limit(cause);
      return Map.of(
          "error", cause.getClass().getSimpleName(),
          "limited", status != 0,
          "status", status,
          "message", String.valueOf(cause.getMessage()));
    }
  }

  private Map<String, Object> output(Sdk sdk, String what, Sdk.Asking asking, JsonNode turn) throws Exception {
    return switch (what) {
      case "models" -> Map.of("models", sdk.models());
      case "count" -> Map.of("tokens", sdk.count(asking));
      case "leave" -> Map.of("text", sdk.leave(asking));
      default -> {
        Sdk.Understood found = sdk.ask(asking, turn == null ? null : turns.get(turn.asInt()));
        turns.add(found.turn());
        List<List<Object>> calls = new ArrayList<>();
        found.calls().forEach(call -> calls.add(List.of(call.id(), call.name(), call.input())));
        yield Map.of("text", found.text(), "calls", calls, "output_tokens", found.tokens(), "turn", turns.size() - 1);
      }
    };
  }

  private static Sdk.Asking asking(JsonNode message) {
    JsonNode tool = message.get("tool");
    List<Sdk.Result> results = new ArrayList<>();
    for (JsonNode result : message.path("results")) {
      results.add(new Sdk.Result(result.get("id").asText(), result.get("name").asText(), result.get("output").asText()));
    }
    return new Sdk.Asking(
        message.get("model").asText(),
        message.get("question").asText(),
        message.path("stream").asBoolean(),
        tool == null ? null : new Sdk.Declared(tool.get("name").asText(), tool.get("parameters")),
        message.path("picture").textValue(),
        message.get("schema"),
        results);
  }

  static Object parsed(String arguments) throws Exception {
    return JSON.readTree(arguments);
  }
}
