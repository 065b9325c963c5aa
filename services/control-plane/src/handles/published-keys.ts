import { listTrustKeys, type TrustKey } from '@countersign/contracts/governance-kernel';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { trustedKeys } from '../runs/trusted-keys.ts';
import { answerOf } from '../siblings/answer-of.ts';

/**
 * The keys of receipts that are pinned here, and those of the log, as the kernel describes them: a receipt key that the kernel names and
 * nobody pinned is not told. Throws GOVERNANCE_UNAVAILABLE.
 */
export async function getPublishedKeys(
  context: Pick<Context, 'kernel' | 'keyRing'>,
): Promise<z.infer<typeof TrustKey>[]> {
  const pinned = new Set((await trustedKeys(context)).map(({ key_id }) => key_id));
  const asked = context.kernel.own({ listTrustKeys });
  const { keys } = await answerOf('kernel', () => asked.listTrustKeys());
  return keys.filter(({ kid, purpose }) => purpose === 'log' || (purpose === 'receipts' && pinned.has(kid)));
}
