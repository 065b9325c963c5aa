import type { AccessBatch, AccessDecision } from '@countersign/contracts/governance-kernel';
import type { Item } from './batch-items.ts';
import { answerAccesses, underSnapshot, type AccessDeps } from './answer-accesses.ts';

type Semantic = AccessBatch['options']['evaluations_semantic'];
/** The decision after which a batch of this semantic stops. `null` when no decision stops it. */
const lastOf: Record<Semantic, boolean | null> = {
  execute_all: null,
  deny_on_first_deny: false,
  permit_on_first_permit: true,
};

/** Answers items in order, up to and including the first decision that stops the batch under its semantic. */
export async function answerItems(
  deps: AccessDeps,
  tenant: string,
  { items, semantic }: { items: readonly Item[]; semantic: Semantic },
): Promise<AccessDecision[]> {
  const requests = items.flatMap((item) => ('request' in item ? [item.request] : []));
  const answered = await underSnapshot(deps, tenant, (current) => answerAccesses(deps, current, requests));
  const waiting = [...answered];
  const decisions = items.map((item) => ('refused' in item ? item.refused : (waiting.shift() ?? { decision: false })));
  const end = decisions.findIndex(({ decision }) => decision === lastOf[semantic]);
  return end === -1 ? decisions : decisions.slice(0, end + 1);
}
