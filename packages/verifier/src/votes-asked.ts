import { PolicyRule } from '@countersign/contracts/governance-kernel';
import type { AskedVotes } from './used-approvals.ts';

export type RulesAsking = ReadonlyMap<string, AskedVotes>;

/** The rules of a bundle whose escalation requires more than the vote of any one person, by id. */
export function votesAskedBy({ rules }: Readonly<Record<string, unknown>>): RulesAsking {
  const read = (Array.isArray(rules) ? rules : []).flatMap((rule) => PolicyRule.safeParse(rule).data ?? []);
  return new Map(
    read.flatMap(({ id, effect, approval }) =>
      effect === 'escalate' && approval !== undefined && asksForMore(approval) ? [[id, approval] as const] : [],
    ),
  );
}

function asksForMore({ quorum, approvers }: AskedVotes): boolean {
  return quorum > 1 || approvers.length > 0;
}
