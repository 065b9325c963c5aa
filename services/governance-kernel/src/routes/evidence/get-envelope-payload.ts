import { getEnvelopePayload } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { getEnvelope } from '../../store/envelope-store.ts';

export const getEnvelopePayloadRoute = ({ reader }: Context) =>
  handleTenant(getEnvelopePayload)(async ({ params, caller: { tenant } }) => {
    const row = await getEnvelope(reader, tenant, params.manifest_id);
    return {
      ...{ manifest_id: row.id, envelope: row.form, payload_type: row.payloadType },
      ...{ payload: row.payload, payload_hash: row.payloadHash, authoritative: false as const },
    };
  });
