import { deny, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

/** How far the signer's clock may be ahead: synchronised clocks differ by less, and a stolen minute is no advantage. */
export const confirmationSkewMaxMs = 60_000;

/** Present, signed, fresh, the very bundle that was compiled, and within the ceilings. A time counts only when it is one that was signed. */
export const policy: Gate = ({ policy: compiled, facts }) => {
  if (facts.policy.state !== 'known') return unavailable('policy');
  const active = facts.policy.value;
  if (active === null || compiled === null) return deny('POLICY_MISSING', 'No policy bundle is active.');
  if (active.signature_valid !== true)
    return deny('POLICY_SIGNATURE_INVALID', 'The signature of the policy bundle does not verify.');
  if (active.is_newest !== true) return deny('POLICY_STALE', 'A newer statement about the policy is known.');
  // Written so that an age that is no number is stale.
  if (!(active.age_ms <= active.age_max_ms)) return deny('POLICY_STALE', 'The policy bundle is older than allowed.');
  if (!(active.age_ms >= -confirmationSkewMaxMs))
    return deny('POLICY_STALE', 'The policy bundle is confirmed for a time that has not come.');
  if (active.hash !== compiled.hash) return deny('POLICY_STALE', 'The compiled policy is not the active one.');
  if (active.missing_ceiling !== null)
    return deny('CEILING_MISSING', `The policy bundle differs from the ceilings in force: ${active.missing_ceiling}`);
  return pass;
};
