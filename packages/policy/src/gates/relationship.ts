import { deny, notApplicable, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';
import { confirmationSkewMaxMs } from './policy.ts';

export const relationship: Gate = ({ facts }) => {
  if (facts.relationship.state === 'not_applicable') return notApplicable;
  if (facts.relationship.state !== 'known') return unavailable('relationship');
  const { age_ms, age_max_ms, relations, required } = facts.relationship.value;
  // This comparison treats an age that is not a number as stale.
  if (!(age_ms <= age_max_ms && age_ms >= -confirmationSkewMaxMs))
    return deny('AUTHZ_SNAPSHOT_STALE', 'The relationship snapshot is older than allowed, or dated in the future.');
  const missing = required.find((name) => relations[name] !== true);
  return missing === undefined ? pass : deny('RELATION_MISSING', `The relation "${missing}" is required.`);
};
