import { deny, notApplicable, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

/** The maximum number of paths in a reason. A reason is sealed, and a request may contain hundreds of paths. */
const namedMax = 5;

export const sandbox: Gate = ({ facts }) => {
  if (facts.sandbox.state === 'not_applicable') return notApplicable;
  if (facts.sandbox.state !== 'known') return unavailable('sandbox');
  const { grant_hash, has_expired: hasExpired, required, overgrants } = facts.sandbox.value;
  if (hasExpired === true) return deny('SANDBOX_GRANT_MISSING', 'The sandbox grant of the tool has expired.');
  if (grant_hash === null && required !== false)
    return deny('SANDBOX_GRANT_MISSING', 'The tool needs a sandbox grant.');
  if (overgrants.length > 0)
    return deny('SANDBOX_OVERGRANT', `The request exceeds its sandbox grant: ${shortList(overgrants)}.`);
  return pass;
};

function shortList(overgrants: readonly string[]): string {
  const named = overgrants.slice(0, namedMax).map((name) => (name.length > 200 ? `${name.slice(0, 200)}…` : name));
  const rest = overgrants.length - named.length;
  return `${named.join(', ')}${rest > 0 ? `, and ${rest} more` : ''}`;
}
