import type { Digest, Instant, TenantId } from '@countersign/contracts';
import { verifyEnvelope } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { checkEnvelope } from '../envelopes/check-envelope.ts';
import { verifyEvidenceSignature } from '../evidence-signatures.ts';
import { handleTenant } from '../handle.ts';
import { findNative, getEnvelope, listEvidenceKeys } from '../store/envelope-store.ts';

export const verifyEnvelopeRoute = ({ reader, provider, config, clock }: Context) =>
  handleTenant(verifyEnvelope)(async ({ params, caller: { tenant } }) => {
    const row = await getEnvelope(reader, tenant, params.manifest_id);
    const checks = await checkEnvelope(row, {
      ...{ provider, logOrigin: config.logOrigin, keys: await listEvidenceKeys(reader) },
      findNative: (owner: TenantId, hash: Digest) => findNative(reader, owner, hash),
      verifySignature: verifyEvidenceSignature,
    });
    return {
      ...{ manifest_id: row.id, verified: Object.values(checks).every(Boolean), checks },
      ...{ native_evidence_hash: row.nativeHash, authoritative: false as const },
      checked_at: clock().toISOString() as Instant, // toISOString writes exactly this form
    };
  });
