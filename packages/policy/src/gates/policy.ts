import { deny, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

/** Present, fresh, signed, and the very bundle that was compiled. */
export const policy: Gate = ({ policy: compiled, facts }) => {
  if (facts.policy.state !== 'known') return unavailable('policy');
  const active = facts.policy.value;
  if (active === null || compiled === null) return deny('POLICY_MISSING', 'No policy bundle is active.');
  // Written so that an age that is no number is stale.
  if (!(active.age_ms <= active.age_max_ms)) return deny('POLICY_STALE', 'The policy bundle is older than allowed.');
  if (active.hash !== compiled.hash) return deny('POLICY_STALE', 'The compiled policy is not the active one.');
  if (active.signature_valid !== true)
    return deny('POLICY_SIGNATURE_INVALID', 'The signature of the policy bundle does not verify.');
  return pass;
};
