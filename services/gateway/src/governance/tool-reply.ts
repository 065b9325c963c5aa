import type { McpExecution } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import type { ToolReply } from '../runs/conversation.ts';
import { storable } from './storable.ts';

const TextContent = z.object({ content: z.array(z.object({ type: z.literal('text'), text: z.string() })).min(1) });

/** The longest text of one tool result in a conversation. The rest is cut, and the text states that. */
const contentLengthMax = 50_000;

/** The text of a tool's result for the model, or the whole result as JSON when it is more than text. */
export function toolReplyOf(execution: z.infer<typeof McpExecution>): ToolReply {
  const texts = TextContent.safeParse(execution.result);
  const content = texts.success
    ? texts.data.content.map((piece) => piece.text).join('\n')
    : JSON.stringify(execution.result ?? {});
  const whole = storable(content);
  const shown = whole.length > contentLengthMax ? `${storable(whole.slice(0, contentLengthMax))}\n[cut]` : whole;
  return { content: shown, isError: execution.is_error };
}
