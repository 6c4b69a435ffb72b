import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/** An SDK as a client of a gateway. */
interface Sdk {
  /** What is asked; tool, picture and schema may be null. */
  record Asking(
      String model, String question, boolean stream, Declared tool, String picture, JsonNode schema, List<Result> results) {}

  record Declared(String name, JsonNode parameters) {}

  record Result(String id, String name, String output) {}

  record Call(String id, String name, Object input) {}

  /** What was read of an answer; turn is the SDK's own form of it, to be sent back. */
  record Understood(String text, List<Call> calls, long tokens, Object turn) {}

  Understood ask(Asking asking, Object turn) throws Exception;

  /** The first text of a stream, which is left then. */
  String leave(Asking asking) throws Exception;

  /** The status of an error of the class that the SDK has for a rate limit; 0 for any other error. */
  int limit(Throwable problem);

  default List<String> models() {
    throw new UnsupportedOperationException();
  }

  default long count(Asking asking) {
    throw new UnsupportedOperationException();
  }
}
