import { create } from "@bufbuild/protobuf";

import {
  type ContentBlock,
  ContentBlockSchema,
  type Message,
  MessageSchema,
  type Role,
  Role as Roles,
  type ToolUseBlock,
} from "./generated/interlingua/v1/types_pb.js";

/** A message of one text. */
export function text(role: Role, words: string): Message {
  return create(MessageSchema, { role, content: [textBlock(words)] });
}

/** A block of text. */
export function textBlock(words: string): ContentBlock {
  return create(ContentBlockSchema, { block: { case: "text", value: { text: words } } });
}

/** The message that answers a call with what the tool returned. */
export function toolResult(call: ToolUseBlock, ...content: ContentBlock[]): Message {
  return create(MessageSchema, {
    role: Roles.TOOL,
    content: [{ block: { case: "toolResult", value: { toolUseId: call.id, content } } }],
    metadata: { parentToolUseId: call.id },
  });
}

/** The tool calls of a message, in order. */
export function calls(message: Message | undefined): ToolUseBlock[] {
  return (message?.content ?? []).flatMap(({ block }) => (block.case === "toolUse" ? [block.value] : []));
}
