import { instantOf, type Digest, type TenantId } from '@countersign/contracts';
import { verifyEnvelope } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { checkEnvelope } from '../../evidence/envelopes/check-envelope.ts';
import { manifestSeal } from '../../evidence/envelopes/sealed-manifest.ts';
import { verifyEvidenceSignature } from '../../evidence-signatures.ts';
import { handleTenant } from '../../handle.ts';
import { trustedKeysOf } from '../../evidence/proof/trusted-keys.ts';
import { findNative, getEnvelope } from '../../store/envelope-store.ts';
import { findReceipt } from '../../store/receipt-store.ts';

export const verifyEnvelopeRoute = ({ reader, provider, config, clock, publishedKeys }: Context) =>
  handleTenant(verifyEnvelope)(async ({ params, caller: { tenant } }) => {
    const row = await getEnvelope(reader, tenant, params.manifest_id);
    const checks = await checkEnvelope(row, {
      ...{ provider, logOrigin: config.logOrigin, keys: await publishedKeys.listEvidence() },
      findNative: (owner: TenantId, hash: Digest) => findNative(reader, owner, hash),
      findSeal: async (envelope) => {
        const trust = trustedKeysOf(await publishedKeys.list());
        return manifestSeal(envelope, await findReceipt(reader, envelope.tenant, envelope.receiptId), {
          trust,
          provider,
        });
      },
      verifySignature: verifyEvidenceSignature,
    });
    return {
      ...{ manifest_id: row.id, verified: Object.values(checks).every(Boolean), checks },
      ...{ native_evidence_hash: row.nativeHash, authoritative: false as const },
      checked_at: instantOf(clock()),
    };
  });
