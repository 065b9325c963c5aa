import { deny, notApplicable, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

export const sandbox: Gate = ({ facts }) => {
  if (facts.sandbox.state === 'not_applicable') return notApplicable;
  if (facts.sandbox.state !== 'known') return unavailable('sandbox');
  const { grant_hash, required, overgrants } = facts.sandbox.value;
  if (grant_hash === null && required !== false)
    return deny('SANDBOX_GRANT_MISSING', 'The tool needs a sandbox grant.');
  if (overgrants.length > 0)
    return deny('SANDBOX_OVERGRANT', `The request exceeds its sandbox grant: ${overgrants.join(', ')}.`);
  return pass;
};
