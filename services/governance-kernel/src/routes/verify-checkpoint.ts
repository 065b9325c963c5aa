import { AppError, type Instant } from '@countersign/contracts';
import { verifyCheckpoint, type Checkpoint } from '@countersign/contracts/governance-kernel';
import type { NodeReader } from '@countersign/crypto';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { provenConsistent, rootOfLog } from '../proof/log-proofs.ts';
import { createLogReader, unlessIncomplete } from '../proof/log-reader.ts';
import { trustedKeysOf } from '../proof/trusted-keys.ts';
import { verifyLogHead } from '../proof/verify-checkpoint.ts';
import { findCheckpoint } from '../store/checkpoint-store.ts';
import { logSource } from '../store/log-source.ts';
import { listTrustKeys } from '../store/trust-key-store.ts';

export const verifyCheckpointRoute = (kernel: Context) =>
  handleTenant(verifyCheckpoint)(async ({ params }) => {
    const { reader, provider, config, clock } = kernel;
    const checkpoint = await findCheckpoint(reader, params.checkpoint_id);
    if (checkpoint === null) throw new AppError('NOT_FOUND', 'There is no such checkpoint', { param: 'checkpoint_id' });
    const nodes = createLogReader(provider, logSource(reader));
    const [root, previous, keys] = await Promise.all([
      unlessIncomplete(rootOfLog(provider, nodes, checkpoint.tree_size)),
      predecessor(kernel, nodes, checkpoint),
      listTrustKeys(reader),
    ]);
    const trust = { trust: trustedKeysOf(keys), provider, origin: config.logOrigin };
    const checks = verifyLogHead({ checkpoint, root, previous }, trust);
    return {
      checkpoint_id: params.checkpoint_id,
      verified: checks.every(({ passed }) => passed),
      checks,
      verified_at: clock().toISOString() as Instant, // toISOString writes exactly this form
    };
  });

async function predecessor(
  { reader, provider }: Context,
  nodes: NodeReader,
  { previous_checkpoint_id: id, tree_size: to }: Checkpoint,
) {
  const checkpoint = id === null ? null : await findCheckpoint(reader, id);
  if (checkpoint === null) return null;
  const from = checkpoint.tree_size;
  const path = from === 0 ? [] : await unlessIncomplete(provenConsistent(provider, nodes, { from, to }));
  return { checkpoint, path };
}
