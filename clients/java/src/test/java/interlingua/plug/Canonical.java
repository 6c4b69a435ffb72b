package interlingua.plug;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import interlingua.Json;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Canonical JSON to messages and back, exactly, by reflection. It is how the conformance suite is led through the generated
 * types; programs send JSON text as {@code request_json} and need none of this.
 *
 * <p>A field takes a value only when it can give the same value back. Everything else (members of a later version, null, a
 * value of the wrong type, an integer beyond the bits of its field) goes into {@code rest_json}, for the server to judge.
 */
final class Canonical {
  /** JSON that is no value of its type, with the JSON Pointer to the place. */
  static final class Invalid extends RuntimeException {
    private static final long serialVersionUID = 1;
    final String path;

    Invalid(String message, String path) {
      super(message);
      this.path = path;
    }

    Invalid under(String step) {
      return new Invalid(getMessage(), "/" + step.replace("~", "~0").replace("/", "~1") + path);
    }
  }

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);
  private static final JsonNodeFactory NODES = JsonNodeFactory.withExactBigDecimals(true);

  /** What descriptors do not say of a type: the members that are required, and the constant of its member type. */
  private record About(Set<String> required, String tag) {}

  private static final About NOTHING = new About(Set.of(), null);
  private final Map<String, About> about = new HashMap<>();

  /** Reads spec/schema/interlingua.schema.json. */
  Canonical(Path schema) throws IOException {
    for (var kind : Json.read(Files.readString(schema)).get("$defs").properties()) {
      Set<String> required = new HashSet<>();
      kind.getValue().path("required").forEach(name -> required.add(name.asText()));
      String tag = kind.getValue().path("properties").path("type").path("const").textValue();
      about.put(kind.getKey(), new About(required, tag));
    }
  }

  private About about(Descriptor kind) {
    return about.getOrDefault(kind.getName(), NOTHING);
  }

  // -------------------------------------------------------------------------------------------------- writing

  /** Fills a message from canonical JSON. */
  <B extends Message.Builder> B write(JsonNode value, B target) {
    if (value == null || !value.isObject()) {
      throw new Invalid("must be an object", "");
    }
    Descriptor kind = target.getDescriptorForType();
    OneofDescriptor union = unionOf(kind);
    if (union != null) {
      writeUnion(value, union, target);
      return target;
    }
    for (String name : about(kind).required()) {
      if (!value.has(name)) {
        throw new Invalid("the member " + name + " is missing", "");
      }
    }
    ObjectNode rest = NODES.objectNode();
    for (var member : value.properties()) {
      String name = member.getKey();
      if (name.equals("type") && about(kind).tag() != null) {
        continue;
      }
      FieldDescriptor field = fieldOf(kind, name);
      try {
        if (field == null || !writeField(member.getValue(), field, target)) {
          rest.set(name, member.getValue());
        }
      } catch (Invalid problem) {
        throw problem.under(name);
      }
    }
    if (!rest.isEmpty()) {
      target.setField(kind.findFieldByName("rest_json"), Json.write(rest));
    }
    return target;
  }

  private void writeUnion(JsonNode value, OneofDescriptor union, Message.Builder target) {
    String word = value.path("type").textValue();
    if (word == null) {
      throw new Invalid("the member type is missing, or is not a text", "/type");
    }
    for (FieldDescriptor arm : union.getFields()) {
      if (arm.getName().equals(word) && !word.equals("unknown")) {
        target.setField(arm, write(value, target.newBuilderForField(arm)).build());
        return;
      }
    }
    FieldDescriptor arm = target.getDescriptorForType().findFieldByName("unknown");
    Message.Builder unknown = target.newBuilderForField(arm);
    unknown.setField(arm.getMessageType().findFieldByName("type"), word);
    unknown.setField(arm.getMessageType().findFieldByName("json"), Json.write(value));
    target.setField(arm, unknown.build());
  }

  /** Whether the field took the value. */
  private boolean writeField(JsonNode value, FieldDescriptor field, Message.Builder target) {
    if (field.getName().endsWith("_json")) {
      if (!value.isNull()) {
        target.setField(field, Json.write(value));
      }
      return !value.isNull();
    }
    if (field.isMapField()) {
      if (!value.isObject() || !value.valueStream().allMatch(Canonical::isText)) {
        return false;
      }
      for (var member : value.properties()) {
        Message.Builder entry = target.newBuilderForField(field);
        entry.setField(field.getMessageType().findFieldByName("key"), member.getKey());
        entry.setField(field.getMessageType().findFieldByName("value"), member.getValue().textValue());
        target.addRepeatedField(field, entry.build());
      }
      return true;
    }
    if (!field.isRepeated()) {
      Object held = element(value, field, target);
      if (held != null) {
        target.setField(field, held);
      }
      return held != null;
    }
    if (!value.isArray() || value.isEmpty()) {
      return false;
    }
    List<Object> items = new ArrayList<>();
    for (int position = 0; position < value.size(); position++) {
      String step = Integer.toString(position);
      Object held;
      try {
        held = element(value.get(position), field, target);
      } catch (Invalid problem) {
        throw problem.under(step);
      }
      if (held == null && field.getJavaType() == JavaType.MESSAGE) {
        throw new Invalid("must be an object", "/" + step);
      }
      if (held == null) {
        return false;
      }
      items.add(held);
    }
    target.setField(field, items);
    return true;
  }

  /** The value of a field or of an item of a list; null when it cannot hold it. */
  private Object element(JsonNode value, FieldDescriptor field, Message.Builder target) {
    switch (field.getJavaType()) {
      case MESSAGE:
        if (field.getMessageType().equals(Timestamp.getDescriptor())) {
          return moment(value.textValue());
        }
        return value.isObject() ? write(value, target.newBuilderForField(field)).build() : null;
      case ENUM:
        return value.isNull() ? null : enumValue(value.textValue(), field.getEnumType());
      case STRING:
        return isText(value) ? value.textValue() : null;
      case BOOLEAN:
        return value.isBoolean() ? value.booleanValue() : null;
      case INT:
        return value.isIntegralNumber() && value.canConvertToInt() ? value.intValue() : null;
      case LONG:
        return value.isIntegralNumber() && value.canConvertToLong() ? value.longValue() : null;
      case DOUBLE:
        return exact(value);
      default:
        throw new IllegalStateException("no way to write " + field);
    }
  }

  private static EnumValueDescriptor enumValue(String word, EnumDescriptor kind) {
    EnumValueDescriptor other = null;
    for (EnumValueDescriptor value : kind.getValues().subList(1, kind.getValues().size())) {
      String known = wordOf(value);
      if (known.equals(word)) {
        return value;
      }
      other = known.equals("other") ? value : other;
    }
    if (other == null || word == null) {
      throw new Invalid("not one of the words of " + kind.getName(), "");
    }
    return other;
  }

  // -------------------------------------------------------------------------------------------------- reading

  /** The canonical JSON of a message. */
  JsonNode read(Message source) {
    Descriptor kind = source.getDescriptorForType();
    OneofDescriptor union = unionOf(kind);
    if (union != null) {
      FieldDescriptor arm = source.getOneofFieldDescriptor(union);
      if (arm == null) {
        throw new Invalid("nothing is set that this version knows", "");
      }
      Message inner = (Message) source.getField(arm);
      return arm.getName().equals("unknown") ? Json.read(textIn(inner, "json")) : read(inner);
    }
    ObjectNode found = NODES.objectNode();
    if (about(kind).tag() != null) {
      found.put("type", about(kind).tag());
    }
    for (FieldDescriptor field : kind.getFields()) {
      String name = field.getName().replaceFirst("_json$", "");
      boolean required = about(kind).required().contains(name) && isBare(field);
      if (!field.getName().equals("rest_json") && (required || isSet(source, field))) {
        try {
          found.set(name, readField(field, source.getField(field)));
        } catch (Invalid problem) {
          throw problem.under(name);
        }
      }
    }
    JsonNode rest = Json.read(textIn(source, "rest_json"));
    if (rest != null) {
      for (var member : rest.properties()) {
        FieldDescriptor field = fieldOf(kind, member.getKey());
        boolean unset = field != null && isBare(field) && !isSet(source, field);
        if (unset || !found.has(member.getKey())) {
          found.set(member.getKey(), member.getValue());
        }
      }
    }
    return found;
  }

  private JsonNode readField(FieldDescriptor field, Object value) {
    if (field.isMapField()) {
      ObjectNode texts = NODES.objectNode();
      for (Object entry : (List<?>) value) {
        texts.put(textIn((Message) entry, "key"), textIn((Message) entry, "value"));
      }
      return texts;
    }
    if (field.isRepeated()) {
      ArrayNode items = NODES.arrayNode();
      for (Object item : (List<?>) value) {
        try {
          items.add(readElement(field, item));
        } catch (Invalid problem) {
          throw problem.under(Integer.toString(items.size()));
        }
      }
      return items;
    }
    return field.getName().endsWith("_json") ? Json.read((String) value) : readElement(field, value);
  }

  private JsonNode readElement(FieldDescriptor field, Object value) {
    return switch (field.getJavaType()) {
      case MESSAGE -> value instanceof Timestamp moment ? NODES.textNode(timeText(moment)) : read((Message) value);
      case ENUM -> {
        EnumValueDescriptor found = (EnumValueDescriptor) value;
        if (found.getIndex() <= 0) {
          throw new Invalid("the enum value is not known to this version", "");
        }
        yield NODES.textNode(wordOf(found));
      }
      case STRING -> NODES.textNode((String) value);
      case BOOLEAN -> NODES.booleanNode((Boolean) value);
      case INT -> NODES.numberNode(BigInteger.valueOf((Integer) value));
      case LONG -> NODES.numberNode(BigInteger.valueOf((Long) value));
      case DOUBLE -> NODES.numberNode(new BigDecimal(value.toString()));
      default -> throw new IllegalStateException("no way to read " + field);
    };
  }

  // -------------------------------------------------------------------------------------------------- helpers

  /** Whether the field of a required member does not know if it is set. */
  private static boolean isBare(FieldDescriptor field) {
    boolean free = field.getName().endsWith("_json");
    return field.isRepeated() || (!field.hasPresence() && field.getJavaType() != JavaType.ENUM && !free);
  }

  private static boolean isSet(Message message, FieldDescriptor field) {
    return field.isRepeated() ? message.getRepeatedFieldCount(field) > 0 : message.hasField(field);
  }

  private static OneofDescriptor unionOf(Descriptor kind) {
    return kind.getRealOneofs().stream()
        .filter(union -> union.getFields().stream().anyMatch(field -> field.getName().equals("unknown")))
        .findFirst()
        .orElse(null);
  }

  private static FieldDescriptor fieldOf(Descriptor kind, String name) {
    FieldDescriptor free = name.equals("rest") ? null : kind.findFieldByName(name + "_json");
    return free != null || name.endsWith("_json") ? free : kind.findFieldByName(name);
  }

  private static String textIn(Message message, String name) {
    return (String) message.getField(message.getDescriptorForType().findFieldByName(name));
  }

  private static String wordOf(EnumValueDescriptor value) {
    String zero = value.getType().findValueByNumber(0).getName();
    return value.getName().substring(zero.length() - "UNSPECIFIED".length()).toLowerCase(Locale.ROOT);
  }

  /** Whether it is a text without halves of surrogate pairs, for which Protobuf has no bytes. */
  private static boolean isText(JsonNode value) {
    return value.isTextual() && StandardCharsets.UTF_8.newEncoder().canEncode(value.textValue());
  }

  /** The double that is the very number; null when there is none. */
  private static Double exact(JsonNode value) {
    double held = value.isNumber() ? value.doubleValue() : Double.NaN;
    boolean same = Double.isFinite(held) && new BigDecimal(Double.toString(held)).compareTo(value.decimalValue()) == 0;
    return same ? held : null;
  }

  private static Timestamp moment(String text) {
    try {
      Instant instant = text == null ? null : Instant.parse(text);
      boolean same = instant != null && TIME.format(instant).equals(text);
      return same ? Timestamp.newBuilder().setSeconds(instant.getEpochSecond()).setNanos(instant.getNano()).build() : null;
    } catch (DateTimeException problem) {
      return null;
    }
  }

  private static String timeText(Timestamp moment) {
    return TIME.format(Instant.ofEpochSecond(moment.getSeconds(), moment.getNanos()));
  }
}
