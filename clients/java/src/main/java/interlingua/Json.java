package interlingua;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.ProtocolMessageEnum;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;

/** Free JSON, members without a field, decimals, and the words of enums. */
public final class Json {
  private static final StreamReadConstraints LIMITS =
      StreamReadConstraints.builder().maxStringLength(Client.MAX_MESSAGE_BYTES).maxNumberLength(5_000).build();

  private static final JsonMapper MAPPER =
      JsonMapper.builder(JsonFactory.builder().streamReadConstraints(LIMITS).build())
          // half a surrogate pair would become a question mark in a field of Protobuf
          .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS, DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .nodeFactory(JsonNodeFactory.withExactBigDecimals(true))
          .build();

  private Json() {}

  /**
   * Reads the text of a field whose name ends in {@code _json}. No number is rounded; an empty text is null.
   *
   * @throws IllegalArgumentException when it is not JSON
   */
  public static JsonNode read(String text) {
    try {
      return text.isEmpty() ? null : MAPPER.readTree(text);
    } catch (JsonProcessingException problem) {
      throw new IllegalArgumentException("not JSON: " + problem.getOriginalMessage(), problem);
    }
  }

  /** Writes a value as the text of a field whose name ends in {@code _json}. */
  public static String write(JsonNode value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException problem) {
      throw new IllegalArgumentException(problem);
    }
  }

  /**
   * What a message holds beside its fields: the members of a later version, and values that their field cannot hold. A
   * member whose field is set in the meantime is not among them, for the field stands over it.
   */
  public static ObjectNode rest(MessageOrBuilder message) {
    JsonNode found = read((String) message.getField(restField(message)));
    if (found != null && !found.isObject()) {
      throw new IllegalArgumentException("rest_json must be a JSON object");
    }
    ObjectNode members = found == null ? MAPPER.createObjectNode() : (ObjectNode) found;
    members.properties().removeIf(member -> isSet(message, member.getKey()));
    return members;
  }

  /**
   * Says what a message holds beside its fields. {@code setRest(m, rest(m))} makes a message that was read and edited ready
   * to be sent.
   *
   * @throws IllegalArgumentException when the field of a member is set: set the field instead
   */
  public static void setRest(Message.Builder message, ObjectNode members) {
    for (Map.Entry<String, JsonNode> member : members.properties()) {
      if (isSet(message, member.getKey())) {
        throw new IllegalArgumentException("the field of " + member.getKey() + " is set");
      }
    }
    message.setField(restField(message), members.isEmpty() ? "" : write(members));
  }

  /**
   * Reads an exact decimal such as {@code usage.getCostUsd()}.
   *
   * @throws NumberFormatException when it is none
   */
  public static BigDecimal decimal(String text) {
    if (!text.matches("-?[0-9]+(\\.[0-9]+)?")) {
      throw new NumberFormatException("not a decimal");
    }
    return new BigDecimal(text);
  }

  /** The specification's word for a value of an enum, e.g. {@code rate_limit} for ERROR_CATEGORY_RATE_LIMIT. */
  public static String word(ProtocolMessageEnum value) {
    if (((Enum<?>) value).name().equals("UNRECOGNIZED")) {
      return "other";
    }
    String zero = value.getDescriptorForType().findValueByNumber(0).getName();
    String name = value.getValueDescriptor().getName();
    return name.substring(zero.length() - "UNSPECIFIED".length()).toLowerCase(Locale.ROOT);
  }

  private static FieldDescriptor restField(MessageOrBuilder message) {
    FieldDescriptor field = message.getDescriptorForType().findFieldByName("rest_json");
    if (field == null) {
      throw new IllegalArgumentException(message.getDescriptorForType().getName() + " has no rest_json");
    }
    return field;
  }

  private static boolean isSet(MessageOrBuilder message, String member) {
    for (String name : new String[] {member, member + "_json"}) {
      FieldDescriptor field = message.getDescriptorForType().findFieldByName(name);
      if (field != null && (field.isRepeated() ? message.getRepeatedFieldCount(field) > 0 : message.hasField(field))) {
        return true;
      }
    }
    return false;
  }
}
