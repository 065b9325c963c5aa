import { AppError } from '@countersign/contracts';
import { getInclusionProof } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { provenIncluded } from '../proof/log-proofs.ts';
import { createLogReader } from '../proof/log-reader.ts';
import { witnessOf } from '../proof/witnesses.ts';
import { logSource } from '../store/log-source.ts';
import { findReceipt } from '../store/receipt-store.ts';

/** A receipt that no checkpoint covers yet gets one: a proof without a signed head proves nothing. */
export const getInclusionProofRoute = ({ reader, provider, headsBy, publishedKeys }: Context) =>
  handleTenant(getInclusionProof)(async ({ query, caller }) => {
    const receipt = await findReceipt(reader, caller.tenant, query.receipt_id);
    if (receipt === null) throw new AppError('NOT_FOUND', 'There is no such receipt', { param: 'receipt_id' });
    const keys = await publishedKeys.list();
    const { getCovering, findBefore } = headsBy(keys);
    const newest = await getCovering(receipt.log_index);
    const checkpoint = await witnessOf({ receipt, record: null }, keys, { newest, findBefore });
    const nodes = createLogReader(provider, logSource(reader));
    const place = { index: receipt.log_index, size: checkpoint.tree_size };
    return {
      receipt_id: query.receipt_id,
      log_index: receipt.log_index,
      tree_size: checkpoint.tree_size,
      hashes: await provenIncluded(provider, nodes, place),
      checkpoint,
    };
  });
