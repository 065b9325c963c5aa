import { deny, notApplicable, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

export const scopes: Gate = ({ facts }) => {
  if (facts.scopes.state === 'not_applicable') return notApplicable;
  if (facts.scopes.state !== 'known') return unavailable('scopes');
  const { required, granted } = facts.scopes.value;
  const missing = required.filter((scope) => !granted.includes(scope));
  return missing.length === 0 ? pass : deny('INSUFFICIENT_SCOPE', `The token lacks the scope ${missing.join(' ')}.`);
};
