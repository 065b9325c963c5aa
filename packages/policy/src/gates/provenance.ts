import { deny, notApplicable, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

export const provenance: Gate = ({ facts }) => {
  if (facts.provenance.state === 'not_applicable') return notApplicable;
  if (facts.provenance.state !== 'known') return unavailable('provenance');
  if (facts.provenance.value.through_boundary === true) return pass;
  return deny('DIRECT_UPSTREAM_BYPASS', 'The call did not come through the boundary.');
};
