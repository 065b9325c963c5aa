import { AppError, ToolName } from '@countersign/contracts';
import type { ChatCompletionRequest } from '@countersign/contracts/governance-kernel';
import { isJsonObject } from './passive-members.ts';

type Message = ChatCompletionRequest['messages'][number];

/** Members of a message that are text, or are written in text: what OpenAI names, and what answers hold that SDKs send back whole. */
const textMembers: ReadonlySet<string> = new Set([
  ...['role', 'content', 'name', 'refusal', 'tool_calls', 'tool_call_id', 'function_call', 'annotations', 'parsed'],
  ...['reasoning', 'reasoning_content', 'reasoning_details', 'countersign'],
]);

/** OpenAI has five. */
const typesMax = 32;

/**
 * The content types of the messages: the types of their parts, `text` for plain text, and the names of members that
 * hold anything else. One is `audio`, which names a sound that the provider keeps. Throws INVALID_REQUEST for too many
 * types.
 */
export function contentTypes({ messages }: ChatCompletionRequest): string[] {
  const types = new Set(messages.flatMap(typesOf));
  if (types.size > typesMax)
    throw new AppError('INVALID_REQUEST', `messages hold more than ${typesMax} types of content`, {
      param: 'messages',
    });
  return [...types].sort();
}

function typesOf(message: Message): string[] {
  const others = Object.keys(message).filter((name) => !textMembers.has(name) && message[name] !== null);
  return [...contentOf(message['content']), ...others.map(readable)];
}

function contentOf(content: unknown): string[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return ['text'];
  return Array.isArray(content)
    ? content.map((part) => readable(isJsonObject(part) ? part['type'] : null))
    : [readable(null)];
}

/** No content has this type, so its cost is unknown. */
const unreadable = 'unreadable';

function readable(type: unknown): string {
  const name = ToolName.safeParse(type);
  return name.success ? name.data : unreadable;
}
