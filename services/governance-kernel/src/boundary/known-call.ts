import { destinationNamed, type Destination, type Fact, type RegistryFact } from '@countersign/policy';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { GovernedCall, NamedCall } from '../call/governed-call.ts';
import type { Judged } from '../call/judged.ts';
import type { SealedIntent } from '../call/normalise.ts';
import type { HeldRelations } from '../relations/relation-source.ts';
import type { ToolResolution } from '../registry/tool-resolver.ts';

/** The requester of a decision: a route for a caller who executes, or the dispatch, which executes itself. */
export type Asker =
  | (Pick<GovernedCall, 'mode' | 'dispatchedBy' | 'asksNobody'> & {
      /** The call was released before: the question is only whether a stop came since. */
      wasReleased?: true;
    })
  | { mode: 'enforce'; dispatchedBy: 'kernel'; /** The dispatch has proved that it asks. */ isClaimed: boolean };

/** A call after step 2: what its door named, who executes it, and what was learned of it before the batch. */
export type KnownCall = {
  call: NamedCall;
  asker: Asker;
  intent: SealedIntent;
  judged: Judged;
  fault: string | null;
  /** The last known organisation of the tenant. */
  org: OrgId | null;
  /**
   * `kernel`: what the call takes is held until settle(). `caller`: it is committed with the decision. `nobody`: the proposal of a
   * registered tool, which takes nothing.
   */
  dispatchedBy: 'kernel' | 'caller' | 'nobody';
  destination: Destination;
  /** The servers that its tool was resolved among. `null` where there are none, for good. */
  servers: string | null;
  /** In the registry, of the server of its tool. `null`: the name of the server, or no server's tool. */
  serverKey: string | null;
  /** Before it is held against the rows of the batch. */
  learned: Fact<RegistryFact>;
  /** The relations that were read before the batch. */
  held: HeldRelations;
};

export function dispatchedBy(
  { dispatchedBy: by }: Asker,
  resolution: ToolResolution | null,
): KnownCall['dispatchedBy'] {
  if (by !== 'owner') return by;
  return resolution === null ? 'caller' : 'nobody';
}

/** To the server of its tool, or to what it names itself. */
export function destinationOf(
  { action, resource }: Pick<SealedIntent, 'action' | 'resource'>,
  resolution: ToolResolution | null,
): Destination {
  if (resolution?.kind === 'registered' && resolution.host !== null) return { host: resolution.host };
  return action === 'data.egress' ? destinationNamed(resource) : null;
}

const notApplicable = { state: 'not_applicable' } as const;
const lookAlike = { state: 'unavailable', detail: 'No server has a tool of this name' } as const;
/** The governed server itself: it is approved by being us, and it has no tools of its own. */
const nobodysTool = { state: 'known', value: { server_id: 'countersign', state: 'approved', tool: null } } as const;

/** The kernel performs only what it has registered; a caller's own tool has nothing that a registry could know. */
export function learnedOf({ tool }: SealedIntent, asker: Asker, resolution: ToolResolution | null): Fact<RegistryFact> {
  if (resolution === null) return asker.dispatchedBy === 'kernel' && tool !== null ? nobodysTool : notApplicable;
  return resolution.kind === 'registered' ? resolution.registry : lookAlike;
}
