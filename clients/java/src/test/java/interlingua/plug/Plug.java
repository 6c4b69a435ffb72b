package interlingua.plug;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import interlingua.Client;
import interlingua.InterlinguaException;
import interlingua.Json;
import interlingua.plug.Canonical.Invalid;
import interlingua.v1.AdaptRequest;
import interlingua.v1.AdaptResponse;
import interlingua.v1.Chunks;
import interlingua.v1.Error;
import interlingua.v1.ErrorAnswer;
import interlingua.v1.EstimateRequest;
import interlingua.v1.Events;
import interlingua.v1.Kind;
import interlingua.v1.ListModelsRequest;
import interlingua.v1.Request;
import interlingua.v1.Response;
import interlingua.v1.Side;
import interlingua.v1.StreamEvent;
import interlingua.v1.Usage;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The plug leads the conformance suite through the messages of Java: every canonical value becomes a message, goes through a
 * server, and what comes back becomes JSON again.
 *
 * <p>Its arguments are HOST:PORT and the path of spec/schema/interlingua.schema.json. encode and decode are the operations of
 * the cross test (clients/run.py): a value as bytes, and back.
 */
public final class Plug {
  private interface Operation {
    JsonNode output(String adapter, JsonNode input) throws InvalidProtocolBufferException;
  }

  private static final JsonNodeFactory NODES = JsonNodeFactory.withExactBigDecimals(true);

  private final Client client;
  private final Canonical canonical;
  private final Map<String, Operation> byAdapter = new TreeMap<>();
  private final Map<String, Operation> others = new TreeMap<>();

  private Plug(Client client, Canonical canonical) {
    this.client = client;
    this.canonical = canonical;
    byAdapter.put("to_wire", (adapter, input) ->
        adapt("wire", to(adapter, input).setRequest(write(input, "request", Request.newBuilder()))));
    byAdapter.put("to_wire_response", (adapter, input) ->
        answer("body", input, to(adapter, input).setResponse(write(input, "response", Response.newBuilder()))));
    byAdapter.put("to_wire_error", (adapter, input) ->
        adapt("answer", to(adapter, input).setError(write(input, "error", Error.newBuilder()))));
    byAdapter.put("from_wire_request", (adapter, input) ->
        adapt("request", from(adapter, input).setKind(Kind.KIND_REQUEST).setWireJson(text(input, "wire"))));
    byAdapter.put("from_wire_response", (adapter, input) ->
        answer("response", input, from(adapter, input).setKind(Kind.KIND_RESPONSE).setWireJson(text(input, "body"))));
    byAdapter.put("stream", this::stream);
    byAdapter.put("stream_encode", this::streamEncode);
    byAdapter.put("error", this::error);
    others.put("hello", (adapter, input) -> hello());
    others.put("bye", (adapter, input) -> NODES.objectNode());
    others.put("cost", (adapter, input) -> cost(input));
    others.put("encode", (adapter, input) -> {
      Message message = write(input, "value", named(input)).build();
      return NODES.objectNode().put("bytes", base64(message.toByteArray()));
    });
    others.put("decode", (adapter, input) -> {
      Message message = named(input).mergeFrom(bytes(input.path("bytes"))).build();
      ObjectNode output = NODES.objectNode().put("bytes", base64(message.toByteArray()));
      return output.set("value", canonical.read(message));
    });
  }

  private JsonNode stream(String adapter, JsonNode input) {
    Chunks.Builder chunks = Chunks.newBuilder();
    for (JsonNode chunk : list(input, "chunks")) {
      chunks.addChunks(ByteString.copyFrom(bytes(chunk)));
    }
    return answer("events", input, from(adapter, input).setChunks(chunks));
  }

  private JsonNode streamEncode(String adapter, JsonNode input) {
    Events.Builder events = Events.newBuilder();
    for (JsonNode event : list(input, "events")) {
      events.addEvents(canonical.write(event, StreamEvent.newBuilder()));
    }
    return answer("chunks", input, to(adapter, input).setEvents(events));
  }

  private JsonNode error(String adapter, JsonNode input) {
    if (!input.path("status").isInt()) {
      throw new Invalid("no status", "/status");
    }
    JsonNode body = input.path("body");
    ErrorAnswer.Builder answer =
        ErrorAnswer.newBuilder()
            .setStatus(input.get("status").intValue())
            .setBody(body.isTextual() ? body.textValue() : text(input, "body"));
    input.path("headers").properties().forEach(header -> answer.putHeaders(header.getKey(), header.getValue().asText()));
    return adapt("error", from(adapter, input).setErrorAnswer(answer).setIncludeRaw(input.path("raw").asBoolean()));
  }

  private JsonNode cost(JsonNode input) {
    // without any price the server would look the model up in its own table
    String price = input.path("price").isObject() ? text(input, "price") : "{}";
    var usage = write(input, "usage", Usage.newBuilder());
    var answer = client.estimate(EstimateRequest.newBuilder().setUsage(usage).setPriceJson(price).build());
    return NODES.objectNode().put("cost_usd", answer.hasCost() ? answer.getCost().getLikelyUsd() : null);
  }

  private JsonNode hello() {
    ArrayNode claimed = NODES.arrayNode();
    byAdapter.keySet().forEach(claimed::add);
    ObjectNode adapters = NODES.objectNode();
    client.listModels(ListModelsRequest.getDefaultInstance()).getAdaptersList().forEach(name -> adapters.set(name, claimed));
    ObjectNode output = NODES.objectNode().put("protocol", 1);
    output.putObject("implementation").put("name", "interlingua-java").put("version", "0.1.0").put("language", "java");
    output.putArray("operations").add("cost");
    return output.set("adapters", adapters);
  }

  /** Adapts an answer, beside the request that it answers where the suite gives one. */
  private JsonNode answer(String member, JsonNode input, AdaptRequest.Builder request) {
    if (input.has("request")) {
      request.setAnsweredRequest(write(input, "request", Request.newBuilder()));
    }
    return adapt(member, request);
  }

  private JsonNode adapt(String member, AdaptRequest.Builder request) {
    AdaptResponse answer = client.adapt(request.build());
    ObjectNode output = NODES.objectNode();
    ArrayNode loss = output.putArray("loss");
    answer.getLossList().forEach(entry -> loss.add(canonical.read(entry)));
    return switch (answer.getOutputCase()) {
      case WIRE_JSON -> output.set(member, Json.read(answer.getWireJson()));
      case REQUEST -> output.set(member, canonical.read(answer.getRequest()));
      case RESPONSE -> output.set(member, canonical.read(answer.getResponse()));
      case CHUNKS -> {
        ArrayNode chunks = output.putArray(member);
        answer.getChunks().getChunksList().forEach(chunk -> chunks.add(base64(chunk.toByteArray())));
        yield output;
      }
      case EVENTS -> events(answer.getEvents(), request.getChunks().getChunksCount());
      case ERROR -> canonical.read(answer.getError());
      case ERROR_ANSWER -> {
        ObjectNode wire = output.putObject("wire").put("status", answer.getErrorAnswer().getStatus());
        ObjectNode headers = wire.putObject("headers");
        answer.getErrorAnswer().getHeadersMap().forEach(headers::put);
        wire.set("body", jsonOrText(answer.getErrorAnswer().getBody()));
        yield output;
      }
      default -> throw new IllegalStateException("Adapt answers with " + answer.getOutputCase());
    };
  }

  /** Events by the chunk that completed them, and behind the last chunk those that the end of input brought. */
  private JsonNode events(Events events, int chunks) {
    List<ArrayNode> parts = new ArrayList<>();
    ObjectNode output = NODES.objectNode();
    ArrayNode all = output.putArray("events");
    for (int place = 0; place <= chunks; place++) {
      parts.add(all.addArray());
    }
    JsonNode response = NODES.nullNode();
    for (int position = 0; position < events.getEventsCount(); position++) {
      StreamEvent event = events.getEvents(position);
      parts.get(Math.min(events.getCompletedBy(position), chunks)).add(canonical.read(event));
      response = NODES.nullNode();
      if (event.getMessageComplete().hasResponse()) {
        response = canonical.read(event.getMessageComplete().getResponse());
      } else if (event.getError().hasResponse()) {
        response = canonical.read(event.getError().getResponse());
      }
    }
    return output.set("response", response);
  }

  private <B extends Message.Builder> B write(JsonNode input, String member, B target) {
    return canonical.write(input.get(member), target);
  }

  private static AdaptRequest.Builder to(String adapter, JsonNode input) {
    return AdaptRequest.newBuilder().setTarget(side(adapter, input));
  }

  private static AdaptRequest.Builder from(String adapter, JsonNode input) {
    return AdaptRequest.newBuilder().setSource(side(adapter, input));
  }

  private static Side side(String adapter, JsonNode input) {
    return Side.newBuilder()
        .setAdapter(adapter)
        .setProvider(input.path("provider").asText(""))
        .setModel(input.path("model").asText(""))
        .setOrigin(input.path("origin").asText(""))
        .setStateInIds(input.path("state_in_ids").asBoolean())
        .build();
  }

  private static String text(JsonNode input, String member) {
    return input.has(member) ? Json.write(input.get(member)) : "";
  }

  private static JsonNode list(JsonNode input, String member) {
    if (!input.path(member).isArray()) {
      throw new Invalid("not a list", "/" + member);
    }
    return input.get(member);
  }

  private static byte[] bytes(JsonNode value) {
    try {
      return Base64.getDecoder().decode(value.textValue());
    } catch (IllegalArgumentException | NullPointerException problem) {
      throw new Invalid("not base64", "");
    }
  }

  private static String base64(byte[] data) {
    return Base64.getEncoder().encodeToString(data);
  }

  private static JsonNode jsonOrText(String text) {
    try {
      JsonNode value = Json.read(text);
      return value == null ? NODES.textNode(text) : value;
    } catch (IllegalArgumentException problem) {
      return NODES.textNode(text);
    }
  }

  private static Message.Builder named(JsonNode input) {
    return switch (input.path("type").asText()) {
      case "Request" -> Request.newBuilder();
      case "Response" -> Response.newBuilder();
      case "Message" -> interlingua.v1.Message.newBuilder();
      default -> throw new Invalid("there is no message of this name", "/type");
    };
  }

  private JsonNode handle(String line) {
    JsonNode message = Json.read(line);
    ObjectNode answer = NODES.objectNode();
    answer.set("id", message.get("id"));
    String name = message.path("op").asText();
    Operation operation = byAdapter.getOrDefault(name, others.get(name));
    if (operation == null) {
      return answer.put("unsupported", true);
    }
    try {
      return answer.set("output", operation.output(message.path("adapter").asText(""), message.path("input")));
    } catch (Invalid problem) {
      answer.putObject("error").put("category", "invalid_request").put("message", problem.getMessage())
          .put("path", problem.path);
    } catch (InterlinguaException problem) {
      if (problem.canonical().isPresent()) {
        return answer.set("error", canonical.read(problem.canonical().get()));
      }
      answer.putObject("error").put("category", "internal").put("message", problem.toString());
    } catch (RuntimeException | InvalidProtocolBufferException problem) {
      answer.putObject("error").put("category", "internal").put("message", problem.toString());
    }
    return answer;
  }

  /** Answers until its input ends. */
  public static void main(String[] arguments) throws IOException {
    try (Client connected = Client.connect(arguments[0])) {
      Client client = connected.withDeadline(Duration.ofSeconds(20));
      Plug plug = new Plug(client, new Canonical(Path.of(arguments[1])));
      var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (!line.isBlank()) {
          out.println(Json.write(plug.handle(line)));
          out.flush();
        }
      }
    }
  }
}
