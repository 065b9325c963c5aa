import { AppError } from '@countersign/contracts';
import { ChatCompletionRequest, type RunAgentInput } from '@countersign/contracts/governance-kernel';
import { isJsonObject, type JsonObject } from '../chat/passive-members.ts';

type Message = RunAgentInput['messages'][number];
type Content = Extract<Message, { role: 'user' }>['content'];
type ContentPart = Exclude<Content, string>[number];
type Source = Extract<ContentPart, { source: unknown }>['source'];

/** The members of `forwardedProps` that are passed to the model call. All others are ignored, except for `model`. */
const forwarded = [
  ...['temperature', 'top_p', 'seed', 'stop', 'max_tokens', 'max_completion_tokens'],
  ...['tool_choice', 'parallel_tool_calls', 'reasoning_effort'],
];

/**
 * The streamed chat completion of a run. The model in the run overrides the configured one. Throws INVALID_REQUEST for
 * a run without a model or without a message for it, and for content that a chat completion cannot express.
 */
export function chatRequest(input: RunAgentInput, configuredModel: string | null): ChatCompletionRequest {
  const props = isJsonObject(input.forwardedProps) ? input.forwardedProps : {};
  const model = props['model'] ?? configuredModel;
  if (model === null)
    throw invalid(
      'forwardedProps.model',
      'The run names no model, and no default is configured. Name one in forwardedProps.model',
    );
  const messages = input.messages.flatMap(chatMessage);
  if (messages.length === 0) throw invalid('messages', 'A run needs at least one message for the model');
  const request = {
    model,
    messages: [...contextMessage(input), ...messages, ...cancelledMessage(input)],
    stream: true,
    stream_options: { include_usage: true },
    ...(input.tools.length === 0 ? {} : { tools: input.tools.map(chatTool) }),
    ...Object.fromEntries(forwarded.filter((name) => name in props).map((name) => [name, props[name]])),
  };
  const read = ChatCompletionRequest.safeParse(request);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw invalid(issue?.path.join('.') ?? 'messages', issue?.message ?? 'malformed');
}

function chatTool({ name, description, parameters }: RunAgentInput['tools'][number]): JsonObject {
  return { type: 'function', function: { name, description, ...(parameters === undefined ? {} : { parameters }) } };
}

function contextMessage({ context }: RunAgentInput): JsonObject[] {
  if (context.length === 0) return [];
  const lines = context.map(({ description, value }) => `${description}:\n${value}`);
  return [{ role: 'system', content: `Context of the page:\n\n${lines.join('\n\n')}` }];
}

/** Tells the model which calls were cancelled. Without this message, it would propose them again. */
function cancelledMessage({ resume }: RunAgentInput): JsonObject[] {
  const ids = resume.filter(({ status }) => status === 'cancelled').map(({ interruptId }) => interruptId);
  if (ids.length === 0) return [];
  return [{ role: 'user', content: `I cancelled the calls that wait for ${ids.join(', ')}. They were not executed.` }];
}

function chatMessage(message: Message, index: number): JsonObject[] {
  const named = message.name === undefined ? {} : { name: message.name };
  switch (message.role) {
    case 'developer':
    case 'system':
      return [{ role: message.role, content: message.content, ...named }];
    case 'user':
      return [{ role: 'user', content: userContent(message.content, `messages.${index}.content`), ...named }];
    case 'assistant':
      return [assistantMessage(message)];
    case 'tool':
      return [{ role: 'tool', tool_call_id: message.toolCallId, content: toolContent(message, index) }];
    case 'activity':
    case 'reasoning':
      return [];
  }
}

function assistantMessage({ content = '', toolCalls = [] }: Extract<Message, { role: 'assistant' }>): JsonObject {
  if (toolCalls.length === 0) return { role: 'assistant', content };
  const calls = toolCalls.map(({ id, function: called }) => ({
    ...{ id, type: 'function' },
    function: { name: called.name, arguments: called.arguments },
  }));
  return { role: 'assistant', content: content === '' ? null : content, tool_calls: calls };
}

function toolContent({ content, error }: Extract<Message, { role: 'tool' }>, index: number): string {
  const text = typeof content === 'string' ? content : content.map((piece) => textOf(piece, index)).join('\n');
  return error === undefined ? text : `${text}\n\nError: ${error}`.trim();
}

function textOf(contentPart: ContentPart, index: number): string {
  if (contentPart.type === 'text') return contentPart.text;
  throw invalid(
    `messages.${index}.content`,
    `The result of a tool must be text, and this result contains ${contentPart.type}`,
  );
}

function userContent(content: Content, param: string): string | JsonObject[] {
  return typeof content === 'string' ? content : content.map((piece) => userPart(piece, param));
}

function userPart(contentPart: ContentPart, param: string): JsonObject {
  if (contentPart.type === 'text') return { type: 'text', text: contentPart.text };
  const url = contentPart.type === 'image' ? urlOf(contentPart.source) : null;
  if (url === null)
    throw invalid(param, `A chat completion cannot contain content of type ${contentPart.type} from this source`);
  return { type: 'image_url', image_url: { url } };
}

function urlOf(source: Source): string | null {
  if (source.type === 'file') return null;
  return source.type === 'url' ? source.value : `data:${source.mimeType};base64,${source.value}`;
}

function invalid(param: string, message: string): AppError {
  return new AppError('INVALID_REQUEST', message, { param });
}
