import type { Instant } from '@countersign/contracts';
import {
  destinationNamed,
  type Destination,
  type Fact,
  type RegistryFact,
  type RuleEvaluator,
} from '@countersign/policy';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { GovernedCall, NamedCall } from '../call/governed-call.ts';
import type { Judged } from '../call/judged.ts';
import type { SealedIntent } from '../call/normalise.ts';
import type { LoadedPolicy } from '../controls/policy/loaded-policy.ts';
import type { Wanted } from '../ledger/control.ts';
import type { HeldRelations } from '../controls/relations/relation-source.ts';
import type { ToolResolution } from '../registry/tool-resolver.ts';
import type { ShadowAnswer } from './shadow.ts';

/**
 * The requester of a decision. It is a route if the caller or an owner executes the call, and the dispatch if the
 * kernel does.
 */
export type Asker =
  | Pick<GovernedCall, 'mode' | 'dispatchedBy' | 'asksNobody'>
  | { mode: 'enforce'; dispatchedBy: 'kernel'; /** Whether the call's claim is real. */ isClaimed: boolean };

/** A call after step 2, with all that is known about it before the batch. */
export type KnownCall = {
  call: NamedCall;
  asker: Asker;
  intent: SealedIntent;
  judged: Judged;
  fault: string | null;
  /** The last known organisation of the tenant. */
  org: OrgId | null;
  /** The sets of fences that could stop the call. */
  fenceSets: readonly Wanted[];
  /** The sets of budgets that limit the call. */
  budgetSets: readonly Wanted[];
  /**
   * `kernel`: budgets are reserved until settle(). `caller`: they are spent with the decision. `nobody`: a proposal
   * for a registered tool, which consumes nothing.
   */
  dispatchedBy: 'kernel' | 'caller' | 'nobody';
  destination: Destination;
  /** The version of the servers under which the tool was resolved. `null` when the resolver has no versions. */
  servers: string | null;
  /** The registry key of the tool's server. `null` when it equals the name of the server, or the tool has no server. */
  serverKey: string | null;
  /** The registry's state of the tool, before it is compared with the rows of the batch. */
  learned: Fact<RegistryFact>;
  /** The relations that were read before the batch. */
  relations: HeldRelations;
};

/** A call with everything that was computed before its batch. */
export type PreparedCall = KnownCall & {
  ulid: string;
  /**
   * Before the batch, the time of the call. In the batch, the time at which the call's receipt is issued, which may be
   * later.
   */
  nowMs: number;
  /** The time of the call, as the rules read it. */
  now: Instant;
  policy: LoadedPolicy | null;
  /** The result of the rules, or the reason why there is none. */
  evaluate: RuleEvaluator;
  /** The verdicts of the drafts in shadow lanes. */
  shadows: readonly ShadowAnswer[];
  /**
   * Whether the verdicts in `shadows` are accepted even if their drafts are not the current lanes. `true` after one
   * reload, so no decision waits twice.
   */
  acceptsShadows: boolean;
};

export function dispatchedBy(
  { dispatchedBy: by }: Asker,
  resolution: ToolResolution | null,
): KnownCall['dispatchedBy'] {
  if (by !== 'owner') return by;
  return resolution === null ? 'caller' : 'nobody';
}

/** The host of the tool's server, or the destination that a `data.egress` names. */
export function destinationOf(
  { action, resource }: Pick<SealedIntent, 'action' | 'resource'>,
  resolution: ToolResolution | null,
): Destination {
  if (resolution?.kind === 'registered' && resolution.host !== null) return { host: resolution.host };
  return action === 'data.egress' ? destinationNamed(resource) : null;
}

const notApplicable = { state: 'not_applicable' } as const;
const lookAlike = { state: 'unavailable', detail: 'The name can be mistaken for a different tool' } as const;
/** The kernel itself as a server. It is approved by definition, and has no tools of its own. */
const nobodysTool = { state: 'known', value: { server_id: 'countersign', state: 'approved', tool: null } } as const;

/**
 * The registry's state of the tool. `not_applicable` for a call without a tool, and for a tool that its caller
 * executes. `unavailable` for a name that can be mistaken for a different tool. The kernel executes only registered
 * tools. Any other tool that it should execute gets the kernel as its server, which has no tools.
 */
export function learnedOf({ tool }: SealedIntent, asker: Asker, resolution: ToolResolution | null): Fact<RegistryFact> {
  if (resolution === null) return asker.dispatchedBy === 'kernel' && tool !== null ? nobodysTool : notApplicable;
  return resolution.kind === 'registered' ? resolution.registry : lookAlike;
}
