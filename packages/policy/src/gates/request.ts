import { deny, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

const digestPattern = /^sha256:[0-9a-f]{64}$/;

/** Calls from the API were parsed before. A call from any other source is denied when its shape cannot be hashed. */
export const request: Gate = ({ intent, facts }) => {
  if (!isObject(intent.args) || !isObject(intent.context))
    return deny('MALFORMED_ARGUMENTS', 'Arguments and context must be JSON objects.');
  if (!digestPattern.test(intent.args_hash) || !digestPattern.test(intent.intent_hash))
    return deny('MALFORMED_ARGUMENTS', 'The call was not normalised.');
  if (facts.request.state !== 'known') return unavailable('request');
  const { fault } = facts.request.value;
  return fault === null ? pass : deny('MALFORMED_ARGUMENTS', fault);
};

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
