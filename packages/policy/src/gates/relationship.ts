import { deny, notApplicable, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

export const relationship: Gate = ({ facts }) => {
  if (facts.relationship.state === 'not_applicable') return notApplicable;
  if (facts.relationship.state !== 'known') return unavailable('relationship');
  const { age_ms, age_max_ms, relations, required } = facts.relationship.value;
  if (!(age_ms <= age_max_ms)) return deny('AUTHZ_SNAPSHOT_STALE', 'The relationship snapshot is older than allowed.');
  if (!required.every((relation) => relations.includes(relation)))
    return deny('RELATION_MISSING', 'A required relation does not exist.');
  return pass;
};
