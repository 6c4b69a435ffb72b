package interlingua;

import interlingua.v1.ContentBlock;
import interlingua.v1.Message;
import interlingua.v1.MessageMetadata;
import interlingua.v1.Role;
import interlingua.v1.TextBlock;
import interlingua.v1.ToolResultBlock;
import interlingua.v1.ToolUseBlock;
import java.util.List;

/** Messages that are made often. */
public final class Messages {
  private Messages() {}

  /** A message of one text. */
  public static Message text(Role role, String words) {
    return Message.newBuilder().setRole(role).addContent(textBlock(words)).build();
  }

  /** A block of text. */
  public static ContentBlock textBlock(String words) {
    return ContentBlock.newBuilder().setText(TextBlock.newBuilder().setText(words)).build();
  }

  /** The message that answers a call with what the tool returned. */
  public static Message toolResult(ToolUseBlock call, List<ContentBlock> content) {
    var result = ToolResultBlock.newBuilder().setToolUseId(call.getId()).addAllContent(content);
    return Message.newBuilder()
        .setRole(Role.ROLE_TOOL)
        .addContent(ContentBlock.newBuilder().setToolResult(result))
        .setMetadata(MessageMetadata.newBuilder().setParentToolUseId(call.getId()))
        .build();
  }

  /** The tool calls of a message, in order. */
  public static List<ToolUseBlock> calls(Message message) {
    return message.getContentList().stream().filter(ContentBlock::hasToolUse).map(ContentBlock::getToolUse).toList();
  }
}
