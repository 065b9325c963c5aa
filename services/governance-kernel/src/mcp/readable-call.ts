import { givenArguments, isObject } from '../call/governed-call.ts';

/**
 * A call whose arguments are no object is decided about like any other, and its denial is sealed: the protocol's own refusal would leave
 * no trace of it. Every other message stays as it is.
 */
export function readableCall(message: unknown): { message: unknown; malformedArguments?: true } {
  if (!isObject(message) || message['method'] !== 'tools/call' || !isObject(message['params'])) return { message };
  const { arguments: given, ...params } = message['params'];
  if (given === undefined || givenArguments(given).malformedArguments !== true) return { message };
  return { message: { ...message, params }, malformedArguments: true };
}
