use crate::v1::content_block::Block;
use crate::v1::{ContentBlock, Message, MessageMetadata, Role, TextBlock, ToolResultBlock, ToolUseBlock};

/// A message of one text.
pub fn text(role: Role, words: impl Into<String>) -> Message {
    Message { role: role.into(), content: vec![text_block(words)], ..Message::default() }
}

/// A block of text.
pub fn text_block(words: impl Into<String>) -> ContentBlock {
    Block::Text(TextBlock { text: words.into(), ..TextBlock::default() }).into()
}

/// The message that answers a call with what the tool returned.
pub fn tool_result(call: &ToolUseBlock, content: Vec<ContentBlock>) -> Message {
    let result = ToolResultBlock { tool_use_id: call.id.clone(), content, ..ToolResultBlock::default() };
    let metadata = MessageMetadata { parent_tool_use_id: Some(call.id.clone()), ..MessageMetadata::default() };
    Message {
        role: Role::Tool.into(),
        content: vec![Block::ToolResult(result).into()],
        metadata: Some(metadata),
        ..Message::default()
    }
}

/// The tool calls of a message, in order.
pub fn calls(message: &Message) -> impl Iterator<Item = &ToolUseBlock> {
    message.content.iter().filter_map(|block| match &block.block {
        Some(Block::ToolUse(call)) => Some(call),
        _ => None,
    })
}

impl From<Block> for ContentBlock {
    fn from(block: Block) -> ContentBlock {
        ContentBlock { block: Some(block) }
    }
}
