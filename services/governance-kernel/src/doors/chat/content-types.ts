import { AppError, ToolName } from '@countersign/contracts';
import type { ChatCompletionRequest } from '@countersign/contracts/governance-kernel';
import { isJsonObject } from './passive-members.ts';

type Message = ChatCompletionRequest['messages'][number];

/**
 * Members of a message that are text or written as text: those of OpenAI, and those that SDKs send back from answers.
 */
const textMembers: ReadonlySet<string> = new Set([
  ...['role', 'content', 'name', 'refusal', 'tool_calls', 'tool_call_id', 'function_call', 'annotations', 'parsed'],
  ...['reasoning', 'reasoning_content', 'reasoning_details', 'countersign'],
]);

/** The most types of content in a request. OpenAI has five. */
const typesMax = 32;

/**
 * The content types of the messages: the types of their parts, `text` for plain text, and the names of all members that
 * are not text. For example, the member `audio` refers to a sound that the provider stores. Throws INVALID_REQUEST for
 * too many types.
 */
export function contentTypes({ messages }: ChatCompletionRequest): string[] {
  const types = new Set(messages.flatMap(typesOf));
  if (types.size > typesMax)
    throw new AppError('INVALID_REQUEST', `messages has more than ${typesMax} types of content. Send fewer`, {
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
    ? content.map((piece) => readable(isJsonObject(piece) ? piece['type'] : null))
    : [readable(null)];
}

/** The type of content that has no readable type. Its cost is unknown. */
const unreadable = 'unreadable';

function readable(type: unknown): string {
  const name = ToolName.safeParse(type);
  return name.success ? name.data : unreadable;
}
