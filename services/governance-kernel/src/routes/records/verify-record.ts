import { instantOf, AppError } from '@countersign/contracts';
import { verifyRecord } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { provenIncluded } from '../../evidence/proof/log-proofs.ts';
import { createLogReader, unlessIncomplete } from '../../evidence/proof/log-reader.ts';
import { trustedKeysOf } from '../../evidence/proof/trusted-keys.ts';
import { witnessOf } from '../../evidence/proof/witnesses.ts';
import { verifySealedRecord } from '../../evidence/proof/verify-sealed-record.ts';
import { logSource } from '../../store/log-source.ts';
import { findNeighbours, findSealedRecord } from '../../store/record-store.ts';

export const verifyRecordRoute = ({ reader, provider, headsBy, config, clock, publishedKeys }: Context) =>
  handleTenant(verifyRecord)(async ({ params, caller: { tenant } }) => {
    const sealed = await findSealedRecord(reader, tenant, params.record_id);
    if (sealed === null)
      throw new AppError('NOT_FOUND', 'The tenant has no boundary record with this ID', { param: 'record_id' });
    const { receipt } = sealed;
    const { session_id: session, lamport_clock: lamport, receipt_id } = receipt.payload;
    const nodes = createLogReader(provider, logSource(reader));
    const keys = await publishedKeys.list();
    const { getCovering, findBefore } = headsBy(keys);
    const newest = await getCovering(receipt.log_index);
    const checkpoint = await witnessOf(sealed, keys, { newest, findBefore });
    const place = { index: receipt.log_index, size: checkpoint.tree_size };
    const [neighbours, path] = await Promise.all([
      findNeighbours(reader, tenant, { session, lamport }),
      unlessIncomplete(provenIncluded(provider, nodes, place)),
    ]);
    const trust = { trust: trustedKeysOf(keys), provider, origin: config.logOrigin };
    const checks = verifySealedRecord({ ...sealed, neighbours, checkpoint, path }, trust);
    return {
      record_id: params.record_id,
      verified: checks.every(({ passed }) => passed),
      checks,
      receipt_id,
      checkpoint_id: checkpoint.checkpoint_id,
      verified_at: instantOf(clock()),
    };
  });
