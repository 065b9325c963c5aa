import { createHash } from 'node:crypto';
import { exportEvidence } from '@countersign/contracts/governance-kernel';
import { sendLines, takenOver } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { makePack, type PackDeps } from '../../evidence/packs/make-pack.ts';
import { handleTenant } from '../../handle.ts';
import { logReaders } from '../../evidence/proof/log-reader.ts';
import { sealExport } from '../../evidence/proof/seal-export.ts';
import { findCosigned, withCosignatures } from '../../store/with-cosignatures.ts';
import { recordExport } from '../../store/envelope-store.ts';
import { evidenceReads } from '../../store/evidence-store.ts';
import { logSource } from '../../store/log-source.ts';
import { getLogReach } from '../../store/log-store.ts';

export const exportEvidenceRoute = (kernel: Context) =>
  handleTenant(exportEvidence)(async ({ body, caller, res, signal }): Promise<typeof takenOver> => {
    const { tenant, principal: by } = caller;
    // Fails early if the key is not valid, since the statement is sealed only after the first pass.
    await kernel.keyGuard.assertCounting(['receipts']);
    const seal: PackDeps['seal'] = (stated) => sealExport(kernel, { tenant, by, statement: stated });
    const pack = await makePack(body, { tenant }, { ...(await depsOf(kernel)), seal });
    const exported = { tenant, hash: pack.evidenceHash, receiptId: pack.statementId, now: kernel.clock() };
    await kernel.transaction((tx) => recordExport(tx, exported));
    res.setHeader('X-Gov-Evidence-Hash', pack.evidenceHash);
    await sendLines({ res, signal }, pack.lines());
    return takenOver;
  });

async function depsOf(kernel: Context): Promise<Omit<PackDeps, 'seal'>> {
  const { provider, headsBy, config, clock, publishedKeys } = kernel;
  const exports = kernel.exports.reader;
  const keys = await publishedKeys.list();
  return {
    ...{ provider, keys, heads: headsBy(keys), reads: evidenceReads(exports), now: clock() },
    newReader: logReaders(provider, logSource(exports)),
    withCosignatures: (head, received) => withCosignatures({ reader: exports, provider }, head, received),
    findCosigned: (size) => findCosigned({ reader: exports, headsBy: headsBy(keys) }, size),
    newHash: () => createHash('sha256'),
    getLogSize: async () => (await getLogReach(exports)).size,
    ...{ logOrigin: config.logOrigin, receiptsMax: kernel.periodReceiptsMax },
  };
}
