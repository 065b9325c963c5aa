import { createEnvelope } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import * as envelopes from '../../evidence/envelopes/create-envelope.ts';
import { manifestView } from '../../evidence/envelopes/manifest.ts';
import { handleTenant } from '../../handle.ts';
import { findNative } from '../../store/envelope-store.ts';

export const createEnvelopeRoute = (kernel: Context) =>
  handleTenant(createEnvelope)(async ({ body, caller: { tenant, principal: by } }) => {
    const { envelope: form, native_evidence_hash: nativeHash, subject, experimental: isExperimental } = body;
    const deps = {
      ...kernel,
      logOrigin: kernel.config.logOrigin,
      listEvidenceKeys: () => kernel.publishedKeys.listEvidence(),
      findNative: (...named: [typeof tenant, typeof nativeHash]) => findNative(kernel.reader, ...named),
    };
    return manifestView(
      await envelopes.createEnvelope(deps, { tenant, by, form, nativeHash, subject, isExperimental }),
    );
  });
