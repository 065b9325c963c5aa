import { createHash } from 'node:crypto';
import { exportEvidence } from '@countersign/contracts/governance-kernel';
import { sendLines, takenOver } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { makePack, type PackDeps } from '../evidence/make-pack.ts';
import { handleTenant } from '../handle.ts';
import { createLogReader } from '../proof/log-reader.ts';
import { sealExport } from '../proof/seal-export.ts';
import { recordExport } from '../store/envelope-store.ts';
import { evidenceReads } from '../store/evidence-store.ts';
import { logSource } from '../store/log-source.ts';
import { getLogReach } from '../store/log-store.ts';

export const exportEvidenceRoute = (kernel: Context) =>
  handleTenant(exportEvidence)(async ({ body, caller, res, signal }): Promise<typeof takenOver> => {
    const { tenant, principal: by } = caller;
    await kernel.keyGuard.assertCounting(['receipts']); // the statement is sealed after the first pass
    const seal: PackDeps['seal'] = (said) => sealExport(kernel, { tenant, by, said });
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
    newReader: () => createLogReader(provider, logSource(exports)),
    newHash: () => createHash('sha256'),
    getLogSize: async () => (await getLogReach(exports)).size,
    ...{ logOrigin: config.logOrigin, receiptsMax: kernel.periodReceiptsMax },
  };
}
