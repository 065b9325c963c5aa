import type { AccessBatch, AccessDecision } from '@countersign/contracts/governance-kernel';
import type { Item } from './batch-items.ts';
import { answerAccesses, underSnapshot, type AccessParts } from './answer-accesses.ts';

type Semantic = AccessBatch['options']['evaluations_semantic'];
/** The decision behind which nothing is told any more. */
const lastOf: Record<Semantic, boolean | null> = {
  execute_all: null,
  deny_on_first_deny: false,
  permit_on_first_permit: true,
};

/** In the order of the items, up to the one that the semantic ends with. */
export async function answerItems(
  parts: AccessParts,
  tenant: string,
  { items, semantic }: { items: readonly Item[]; semantic: Semantic },
): Promise<AccessDecision[]> {
  const requests = items.flatMap((item) => ('request' in item ? [item.request] : []));
  const answered = await underSnapshot(parts, tenant, (standing) => answerAccesses(parts, standing, requests));
  const waiting = [...answered];
  const decisions = items.map((item) => ('refused' in item ? item.refused : (waiting.shift() ?? { decision: false })));
  const end = decisions.findIndex(({ decision }) => decision === lastOf[semantic]);
  return end === -1 ? decisions : decisions.slice(0, end + 1);
}
