import { instantOf, AppError } from '@countersign/contracts';
import { verifyCheckpoint, type Checkpoint } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider, NodeReader } from '@countersign/crypto';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import type { CountedHeads } from '../../evidence/proof/counted-heads.ts';
import { provenConsistent, rootOfLog } from '../../evidence/proof/log-proofs.ts';
import { createLogReader, unlessIncomplete } from '../../evidence/proof/log-reader.ts';
import { trustedKeysOf } from '../../evidence/proof/trusted-keys.ts';
import { verifyLogHead } from '../../evidence/proof/verify-checkpoint.ts';
import { findCheckpoint } from '../../store/checkpoint-store.ts';
import { logSource } from '../../store/log-source.ts';

export const verifyCheckpointRoute = ({ reader, provider, config, clock, headsBy, publishedKeys }: Context) =>
  handleTenant(verifyCheckpoint)(async ({ params }) => {
    const checkpoint = await findCheckpoint(reader, params.checkpoint_id);
    if (checkpoint === null)
      throw new AppError('NOT_FOUND', 'The log has no checkpoint with this ID', { param: 'checkpoint_id' });
    const nodes = createLogReader(provider, logSource(reader));
    const keys = await publishedKeys.list();
    const [root, previous] = await Promise.all([
      unlessIncomplete(rootOfLog(provider, nodes, checkpoint.tree_size)),
      predecessor(headsBy(keys), checkpoint, { provider, nodes }),
    ]);
    const trust = { trust: trustedKeysOf(keys), provider, origin: config.logOrigin };
    const checks = verifyLogHead({ checkpoint, root, previous }, trust);
    return {
      checkpoint_id: params.checkpoint_id,
      verified: checks.every(({ passed }) => passed),
      checks,
      extends_checkpoint_id: previous?.checkpoint.checkpoint_id ?? null,
      verified_at: instantOf(clock()),
    };
  });

async function predecessor(
  { findPredecessor }: CountedHeads,
  head: Checkpoint,
  { provider, nodes }: { provider: CryptoProvider; nodes: NodeReader },
) {
  const checkpoint = await findPredecessor(head);
  if (checkpoint === null) return null;
  const sizes = { from: checkpoint.tree_size, to: head.tree_size };
  const path = sizes.from === 0 ? [] : await unlessIncomplete(provenConsistent(provider, nodes, sizes));
  return { checkpoint, path };
}
