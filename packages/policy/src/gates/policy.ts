import { deny, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

/**
 * The maximum lead of the signer's clock. Synchronised clocks differ by less, and one minute is no advantage for an
 * attacker.
 */
export const confirmationSkewMaxMs = 60_000;

/**
 * The policy must be present, signed, fresh, identical to the compiled bundle, and within the ceilings. Its age counts
 * only after its signature was verified.
 */
export const policy: Gate = ({ policy: compiled, facts }) => {
  if (facts.policy.state !== 'known') return unavailable('policy');
  const active = facts.policy.value;
  if (active === null || compiled === null) return deny('POLICY_MISSING', 'No policy bundle is active.');
  if (active.signature_valid !== true)
    return deny('POLICY_SIGNATURE_INVALID', 'The signature of the policy bundle does not verify.');
  if (active.is_newest !== true) return deny('POLICY_STALE', 'A newer statement about the policy exists.');
  // This comparison treats an age that is not a number as stale.
  if (!(active.age_ms <= active.age_max_ms))
    return deny('POLICY_STALE', 'The policy bundle was last confirmed too long ago.');
  if (!(active.age_ms >= -confirmationSkewMaxMs))
    return deny('POLICY_STALE', 'The confirmation time of the policy bundle is in the future.');
  if (active.hash !== compiled.hash) return deny('POLICY_STALE', 'The compiled policy is not the active one.');
  if (active.missing_ceiling !== null)
    return deny('CEILING_MISSING', `The policy bundle differs from the ceilings in force: ${active.missing_ceiling}`);
  return pass;
};
