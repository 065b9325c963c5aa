import { z } from 'zod';

const ToolCall = z.looseObject({
  method: z.literal('tools/call'),
  params: z.looseObject({ name: z.string(), arguments: z.unknown() }),
});

/**
 * A call whose arguments are no object is decided about like any other, and its denial is sealed: the protocol's own refusal would leave
 * no trace of it. Every other message stays as it is.
 */
export function readableCall(message: unknown): { message: unknown; malformedArguments?: true } {
  const call = ToolCall.safeParse(message);
  if (!call.success || !('arguments' in call.data.params) || isObject(call.data.params.arguments)) return { message };
  const { arguments: _malformed, ...params } = call.data.params;
  return { message: { ...call.data, params }, malformedArguments: true };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
