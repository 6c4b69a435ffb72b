import { createRegistry, type DescEnum, type DescMessage, isFieldSet, type Message } from "@bufbuild/protobuf";
import { isInteger, isSafeNumber, LosslessNumber, parse, stringify } from "lossless-json";

import { file_interlingua_v1_types } from "./generated/interlingua/v1/types_pb.js";

/** A value of JSON. What a number cannot hold is a bigint, or a `LosslessNumber` that keeps its digits as text. */
export type Json = null | boolean | number | bigint | string | LosslessNumber | Json[] | { [member: string]: Json };

export { LosslessNumber };

/** Reads the text of a field whose name ends in `Json`. No number is rounded. An empty text is undefined. */
export function readJson(text: string): Json | undefined {
  return text === "" ? undefined : (parse(text, null, exactNumber) as Json);
}

/** Writes a value as the text of a field whose name ends in `Json`. */
export function writeJson(value: Json): string {
  const text = stringify(value);
  if (text === undefined) {
    throw new TypeError("not a value of JSON");
  }
  return text;
}

function exactNumber(text: string): number | bigint | LosslessNumber {
  const number = Number(text);
  if (isInteger(text)) {
    return Number.isSafeInteger(number) && text !== "-0" ? number : text === "-0" ? new LosslessNumber(text) : BigInt(text);
  }
  return isSafeNumber(text) && !Object.is(number, -0) ? number : new LosslessNumber(text);
}

const registry = createRegistry(file_interlingua_v1_types);

/**
 * What a message holds beside its fields: the members of a later version, and values that their field cannot hold. A
 * member whose field is set in the meantime is not among them, for the field stands over it.
 */
export function rest(message: Message & { restJson: string }): Record<string, Json> {
  const members = readJson(message.restJson) ?? {};
  if (typeof members !== "object" || Array.isArray(members) || members === null || members instanceof LosslessNumber) {
    throw new TypeError("restJson must be a JSON object");
  }
  return Object.fromEntries(Object.entries(members).filter(([name]) => !isSet(message, name)));
}

/**
 * Says what a message holds beside its fields. A member whose field is set is refused: set the field instead.
 * `setRest(m, rest(m))` makes a message that was read and edited ready to be sent.
 */
export function setRest(message: Message & { restJson: string }, members: Record<string, Json>): void {
  const stale = Object.keys(members).find((name) => isSet(message, name));
  if (stale !== undefined) {
    throw new TypeError(`the field of ${stale} is set`);
  }
  message.restJson = Object.keys(members).length > 0 ? writeJson(members) : "";
}

function isSet(message: Message, member: string): boolean {
  const schema = schemaOf(message);
  return schema.fields.some((field) => [member, `${member}_json`].includes(field.name) && isFieldSet(message, field));
}

function schemaOf(message: Message): DescMessage {
  const schema = registry.getMessage(message.$typeName);
  if (schema === undefined) {
    throw new TypeError(`${message.$typeName} has no restJson`);
  }
  return schema;
}

/** The exact sum of decimals such as `usage.costUsd`. */
export function addDecimals(...decimals: string[]): string {
  const parts = decimals.map((text) => {
    const found = /^(-?)([0-9]+)(?:\.([0-9]+))?$/.exec(text);
    if (found === null) {
      throw new RangeError(`${JSON.stringify(text)} is not a decimal`);
    }
    return { sign: found[1], whole: found[2], fraction: found[3] ?? "" };
  });
  const digits = Math.max(0, ...parts.map((part) => part.fraction.length));
  const units = parts.map(({ sign, whole, fraction }) => BigInt(`${sign}${whole}${fraction.padEnd(digits, "0")}`));
  const sum = units.reduce((total, next) => total + next, 0n);
  const text = (sum < 0n ? -sum : sum).toString().padStart(digits + 1, "0");
  const whole = text.slice(0, text.length - digits);
  const fraction = text.slice(text.length - digits).replace(/0+$/, "");
  return `${sum < 0n ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}

/** The specification's word for a value of an enum, e.g. `word(ErrorCategorySchema, error.category)` is `rate_limit`. */
export function word(schema: DescEnum, value: number): string {
  return schema.value[value]?.localName.toLowerCase() ?? "other";
}
