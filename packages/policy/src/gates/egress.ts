import { deny, notApplicable, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

export const egress: Gate = ({ facts }) => {
  if (facts.egress.state === 'not_applicable') return notApplicable;
  if (facts.egress.state !== 'known') return unavailable('egress');
  const { allowed, detail } = facts.egress.value;
  return allowed === true ? pass : deny('EGRESS_BLOCKED', `The destination is not allowed: ${detail}.`);
};
