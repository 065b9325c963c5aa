import { instantOf } from '@countersign/contracts';
import { decisionWork, neededRelations, Work } from '@countersign/policy';
import type { NamedCall } from '../call/governed-call.ts';
import { judgedOf } from '../call/judged.ts';
import { normalise, type Hasher } from '../call/normalise.ts';
import type { Outdated } from '../ledger/cached-state.ts';
import { notAsked, relationsOf } from '../controls/relations/relation-source.ts';
import { fenceSets } from '../controls/fences/in-force.ts';
import { budgetSets } from './limiting-budgets.ts';
import type { CachedStates } from './cached-states.ts';
import type { ResolvedTool } from './current-servers.ts';
import { destinationOf, dispatchedBy, learnedOf, type Asker, type PreparedCall } from './known-call.ts';
import { evaluateAhead, type AskRules } from './rule-evaluation.ts';
import { askDrafts, type ShadowSource } from './shadow.ts';

type PrepareDeps = {
  states: CachedStates;
  shadows: ShadowSource;
  askRules: AskRules;
  hasher: Hasher;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
};

/** A call to decide. Its tool was resolved at the door. */
export type CallToDecide = { call: NamedCall; asker: Asker; tool: ResolvedTool };

/**
 * Steps 1 and 2 of the cycle, and everything else that needs no batch: cached states are read, the call is normalised,
 * and the rules and drafts are evaluated. Prepared calls are built by one literal, so all have the same shape.
 */
export async function prepareCall(
  { states, shadows, askRules, hasher, clock, newUlid }: PrepareDeps,
  { call, asker, tool }: CallToDecide,
  reloaded: readonly Outdated['state'][],
): Promise<PreparedCall> {
  const { tenant } = call.caller;
  const { servers, resolution } = reloaded.includes(states.servers) ? await states.servers.current(call) : tool;
  const policy = states.policy.current(tenant);
  const compiled = policy?.policy ?? null;
  const work = decisionWork();
  const { intent, fault } = normalise(hasher, call, { resolution, policy: compiled, work });
  const needed = compiled === null ? null : neededRelations(compiled, intent, work);
  const relations = needed === null ? notAsked : await states.relations.current({ tenant, needed });
  const nowMs = clock().getTime();
  const now = instantOf(nowMs);
  const environment = { now, relations: relationsOf(relations) };
  const evaluated = { intent, environment, work: new Work(work.left) };
  const asking = compiled === null ? noPolicy : evaluateAhead(askRules, compiled, evaluated);
  const evaluate = asking instanceof Promise ? await asking : asking;
  const org = states.organisation.current(tenant);
  const by = dispatchedBy(asker, resolution);
  const drafted = { call, intent, resolution, now, relations: { needed, relations } };
  return {
    call,
    asker,
    intent,
    fault,
    policy,
    servers,
    relations,
    now,
    nowMs,
    evaluate,
    org,
    fenceSets: fenceSets(call, intent, org),
    budgetSets: budgetSets(call, intent, by),
    ulid: newUlid(nowMs),
    judged: judgedOf(hasher, call, { intent, policy: compiled, now, relations: environment.relations }),
    dispatchedBy: by,
    destination: destinationOf(intent, resolution),
    serverKey: resolution?.kind === 'registered' ? (resolution.serverKey ?? null) : null,
    learned: learnedOf(intent, asker, resolution),
    shadows: askDrafts(shadows, states.drafts.current(tenant), drafted),
    acceptsShadows: reloaded.includes(states.drafts),
  };
}

function noPolicy(): never {
  throw new Error('there is no policy to evaluate');
}
