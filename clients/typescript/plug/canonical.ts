/**
 * Canonical JSON to messages and back, exactly, by reflection. It is how the conformance suite is led through the
 * generated types; programs send JSON text as `requestJson` and need none of this.
 *
 * A field takes a value only when it can give the same value back. Everything else (members of a later version, null, a
 * value of the wrong type, an integer beyond the bits of its field) goes into `rest_json`, for the server to judge.
 */
import { readFileSync } from "node:fs";

import { create, type DescField, type DescMessage, type DescOneof, type Message, ScalarType } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { LosslessNumber, parse, stringify } from "lossless-json";

/** JSON whose numbers are as they were written. */
export type Value = null | boolean | string | LosslessNumber | Value[] | Members;
export interface Members {
  [name: string]: Value;
}

/** JSON that is no value of its type, with the JSON Pointer to the place. */
export class Invalid extends Error {
  constructor(
    message: string,
    readonly path = "",
  ) {
    super(message);
  }
}

export const read = (text: string) => parse(text) as Value;
export const write = (value: Value) => stringify(value) as string;

/** What descriptors do not say of a type: the members that are required, and the constant of its member type. */
const about = new Map<string, { required: string[]; tag: string | undefined }>();

/** Reads spec/schema/interlingua.schema.json. */
export function load(file: string): void {
  const schema = JSON.parse(readFileSync(file, "utf8"));
  for (const [name, kind] of Object.entries<any>(schema.$defs)) {
    about.set(name, { required: kind.required ?? [], tag: kind.properties?.type?.const });
  }
}

const aboutOf = (schema: DescMessage) => about.get(schema.name) ?? { required: [], tag: undefined };

// ---------------------------------------------------------------------------------------------------- writing

/** The message for canonical JSON. */
export function toMessage(schema: DescMessage, value: Value | undefined): Message {
  if (!isObject(value)) {
    throw new Invalid("must be an object");
  }
  const message = reflect(schema, create(schema), false);
  const union = unionOf(schema);
  if (union !== undefined) {
    writeUnion(message, union, value);
    return message.message;
  }
  const { required, tag } = aboutOf(schema);
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) {
    throw new Invalid(`the member ${missing} is missing`);
  }
  const rest: Members = {};
  for (const [name, item] of Object.entries(value)) {
    const field = fieldOf(schema, name);
    if (!(name === "type" && tag !== undefined) && !(field && under(name, () => writeField(message, field, item)))) {
      Object.defineProperty(rest, name, { value: item, enumerable: true });
    }
  }
  if (Object.keys(rest).length > 0) {
    set(message, "rest_json", write(rest));
  }
  return message.message;
}

function writeUnion(message: ReflectMessage, union: DescOneof, value: Members): void {
  const word = value["type"];
  if (typeof word !== "string") {
    throw new Invalid("the member type is missing, or is not a text", "/type");
  }
  const arm = union.fields.find((field) => field.name === word && word !== "unknown");
  if (arm?.message) {
    message.set(arm, toMessage(arm.message, value));
    return;
  }
  const unknown = union.fields.find((field) => field.name === "unknown")!;
  const inner = reflect(unknown.message!, create(unknown.message!), false);
  set(inner, "type", word);
  set(inner, "json", write(value));
  message.set(unknown, inner.message);
}

/** Whether the field took the value. */
function writeField(message: ReflectMessage, field: DescField, value: Value): boolean {
  if (field.name.endsWith("_json")) {
    return value !== null && (message.set(field, write(value)), true);
  }
  if (field.fieldKind === "map") {
    if (!isObject(value) || !Object.values(value).every(isText)) {
      return false;
    }
    Object.entries(value).forEach(([name, item]) => message.get(field).set(name, item));
    return true;
  }
  if (field.fieldKind === "list") {
    if (!Array.isArray(value) || value.length === 0) {
      return false;
    }
    const items = value.map((item, position) => under(`${position}`, () => element(field, item)));
    const wrong = items.indexOf(undefined);
    if (wrong >= 0 && field.listKind === "message") {
      throw new Invalid("must be an object", `/${wrong}`);
    }
    items.forEach((item) => wrong < 0 && message.get(field).add(item));
    return wrong < 0;
  }
  const found = element(field, value);
  if (found !== undefined) {
    message.set(field, found);
  }
  return found !== undefined;
}

/** The value of a field or of an item of a list; undefined when it cannot hold it. */
function element(field: DescField, value: Value): any {
  if (field.message?.typeName === TimestampSchema.typeName) {
    const found = typeof value === "string" ? moment(value) : undefined;
    return found && timeText(found) === value ? found : undefined;
  }
  if (field.message) {
    return isObject(value) ? toMessage(field.message, value) : undefined;
  }
  if (field.enum) {
    if (value === null) {
      return undefined;
    }
    const words = field.enum.values.slice(1);
    const found = words.find((item) => item.localName.toLowerCase() === value) ??
      (typeof value === "string" ? words.find((item) => item.localName === "OTHER") : undefined);
    if (found === undefined) {
      throw new Invalid(`not one of the words of ${field.enum.name}`);
    }
    return found.number;
  }
  const number = value instanceof LosslessNumber ? value.value : undefined;
  switch (field.scalar) {
    case ScalarType.STRING:
      return isText(value) ? value : undefined;
    case ScalarType.BOOL:
      return typeof value === "boolean" ? value : undefined;
    case ScalarType.INT32:
      return number !== undefined && isInteger(number, 31n) ? Number(number) : undefined;
    case ScalarType.INT64:
      return number !== undefined && isInteger(number, 63n) ? BigInt(number) : undefined;
    case ScalarType.DOUBLE:
      return number !== undefined && same(number) ? Number(number) : undefined;
    default:
      throw new Error(`no way to write ${field}`);
  }
}

// ---------------------------------------------------------------------------------------------------- reading

/** The canonical JSON of a message. */
export function fromMessage(schema: DescMessage, source: Message): Members {
  const message = reflect(schema, source, false);
  const union = unionOf(schema);
  if (union !== undefined) {
    const arm = message.oneofCase(union);
    if (arm?.message === undefined) {
      throw new Invalid("nothing is set that this version knows");
    }
    const inner = message.get(arm) as ReflectMessage;
    return arm.name === "unknown" ? (read(get(inner, "json")) as Members) : fromMessage(arm.message, inner.message);
  }
  const { required, tag } = aboutOf(schema);
  const found: Members = tag === undefined ? {} : { type: tag };
  for (const field of schema.fields) {
    const name = field.name.replace(/_json$/, "");
    if (field.name !== "rest_json" && (message.isSet(field) || (required.includes(name) && isBare(field)))) {
      found[name] = under(name, () => readField(field, message.get(field)));
    }
  }
  const rest = get(message, "rest_json");
  for (const [name, item] of Object.entries(rest === "" ? {} : (read(rest) as Members))) {
    const field = fieldOf(schema, name);
    if (!Object.hasOwn(found, name) || (field && isBare(field) && !message.isSet(field))) {
      Object.defineProperty(found, name, { value: item, enumerable: true, configurable: true, writable: true });
    }
  }
  return found;
}

function readField(field: DescField, value: any): Value {
  if (field.name.endsWith("_json")) {
    return read(value);
  }
  if (field.fieldKind === "map") {
    return Object.fromEntries(value);
  }
  if (field.fieldKind === "list") {
    return [...value].map((item, position) => under(`${position}`, () => readElement(field, item)));
  }
  return readElement(field, value);
}

function readElement(field: DescField, value: any): Value {
  if (field.message?.typeName === TimestampSchema.typeName) {
    return timeText(value.message);
  }
  if (field.message) {
    return fromMessage(field.message, value.message);
  }
  if (field.enum) {
    const found = field.enum.value[value];
    if (found === undefined || value === 0) {
      throw new Invalid("the enum value is not known to this version");
    }
    return found.localName.toLowerCase();
  }
  return typeof value === "number" || typeof value === "bigint" ? new LosslessNumber(`${value}`) : value;
}

// ---------------------------------------------------------------------------------------------------- helpers

/** Whether the field of a required member does not know if it is set. */
function isBare(field: DescField): boolean {
  return field.fieldKind === "list" || field.fieldKind === "map" ||
    (field.fieldKind === "scalar" && !field.name.endsWith("_json") && field.presence === 2);
}

function unionOf(schema: DescMessage): DescOneof | undefined {
  return schema.oneofs.find((union) => union.fields.some((field) => field.name === "unknown"));
}

function fieldOf(schema: DescMessage, name: string): DescField | undefined {
  const free = name === "rest" ? undefined : schema.fields.find((field) => field.name === `${name}_json`);
  return free ?? (name.endsWith("_json") ? undefined : schema.fields.find((field) => field.name === name));
}

const set = (message: ReflectMessage, name: string, value: any) =>
  message.set(message.desc.fields.find((field) => field.name === name)!, value);
const get = (message: ReflectMessage, name: string): any =>
  message.get(message.desc.fields.find((field) => field.name === name)!);

function isObject(value: Value | undefined): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber);
}

const isText = (value: Value) => typeof value === "string" && value.isWellFormed();

function isInteger(text: string, bits: bigint): boolean {
  return /^-?[0-9]{1,20}$/.test(text) && BigInt(text) >= -(1n << bits) && BigInt(text) < 1n << bits;
}

/** Whether a double is the very number of a JSON text. */
function same(text: string): boolean {
  const number = Number(text);
  return Number.isFinite(number) && text.length < 400 && plain(text) === plain(`${number}`);
}

/** A decimal as sign, digits without zeros at either end, and exponent. */
function plain(text: string): string {
  const [, sign, whole, fraction, exponent] = /^(-?)([0-9]+)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?$/.exec(text)!;
  const digits = `${whole}${fraction ?? ""}`.replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  const power = Number(exponent ?? 0) - (fraction?.length ?? 0) + digits.length - kept.length;
  return kept === "" ? "0" : `${sign}${kept}e${power}`;
}

function moment(text: string): Timestamp | undefined {
  const found = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{6})Z$/.exec(text);
  const milliseconds = found ? Date.parse(`${found[1]}Z`) : NaN;
  return Number.isNaN(milliseconds)
    ? undefined
    : create(TimestampSchema, { seconds: BigInt(milliseconds / 1000), nanos: Number(found![2]) * 1000 });
}

function timeText({ seconds, nanos }: Timestamp): string {
  const date = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return `${date}.${Math.floor(nanos / 1000).toString().padStart(6, "0")}Z`;
}

function under<T>(step: string, work: () => T): T {
  try {
    return work();
  } catch (problem) {
    if (problem instanceof Invalid) {
      throw new Invalid(problem.message, `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}${problem.path}`);
    }
    throw problem;
  }
}
