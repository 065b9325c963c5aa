import { AppError } from '@countersign/contracts';
import { exportReceipts, exportedReceiptsMax } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { coveringCheckpoint, provenIncluded } from '../proof/log-proofs.ts';
import { createLogReader } from '../proof/log-reader.ts';
import { chainExportOf } from '../receipts/chain-export.ts';
import { findLatestCheckpoint } from '../store/checkpoint-store.ts';
import { logSource } from '../store/log-source.ts';
import { listChain, type ChainLink } from '../store/record-store.ts';

/** Proofs made at once: each reads up to two tiles of the log, so this bounds one statement. */
const proofsAtOnce = 100;

/** The whole chain or, when `limit` is given, a stated part of it: never silently less than was asked for. */
export const exportReceiptsRoute = ({ reader, provider, checkpoints }: Context) =>
  handleTenant(exportReceipts)(async ({ query: { session_id: session, from, limit }, caller: { tenant } }) => {
    const links = await listChain(reader, tenant, { session, from, limit: limit ?? exportedReceiptsMax + 1 });
    if (links.length === 0) throw new AppError('NOT_FOUND', 'There is no such session', { param: 'session_id' });
    if (links.length > exportedReceiptsMax)
      throw new AppError(
        'INVALID_REQUEST',
        `A session of more than ${exportedReceiptsMax} receipts is exported in parts`,
        {
          param: 'limit',
        },
      );
    const checkpoint = await coveringCheckpoint(Math.max(...links.map(({ receipt }) => receipt.log_index)), {
      findLatest: () => findLatestCheckpoint(reader),
      create: checkpoints.create,
    });
    const nodes = createLogReader(provider, logSource(reader));
    const prove = ({ receipt }: ChainLink) =>
      provenIncluded(provider, nodes, { index: receipt.log_index, size: checkpoint.tree_size });
    return chainExportOf(links, checkpoint, await inTurns(links, prove));
  });

async function inTurns<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += proofsAtOnce)
    results.push(...(await Promise.all(items.slice(start, start + proofsAtOnce).map(work))));
  return results;
}
