import { givenArguments, isObject } from '../../call/governed-call.ts';

/**
 * Removes arguments that are not an object, and marks the call, so that it is decided and its denial sealed. The
 * protocol's own refusal would leave no record. Other messages are unchanged.
 */
export function readableCall(message: unknown): { message: unknown; malformedArguments?: true } {
  if (!isObject(message) || message['method'] !== 'tools/call' || !isObject(message['params'])) return { message };
  const { arguments: args, ...params } = message['params'];
  if (args === undefined || givenArguments(args).malformedArguments !== true) return { message };
  return { message: { ...message, params }, malformedArguments: true };
}
