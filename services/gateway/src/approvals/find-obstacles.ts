import { agentOf, keyOfPrincipal } from '@countersign/contracts';
import type { ResolverObstacle } from '@countersign/contracts/gateway';
import { findKeyMakers } from '../store/api-keys.ts';
import type { StoredApproval } from '../store/approvals.ts';
import type { Reader } from '../store/database.ts';
import { findRunStarters } from '../store/runs.ts';
import { countOtherApprovers, type Membership } from '../store/workspaces.ts';
import { obstacleTo } from './obstacle-to.ts';

type Resolver = Pick<Membership, 'workspaceId' | 'role'> & { resolver: string };

/** The obstacle that currently keeps this person from resolving the approval. `null` when there is none. */
export async function findObstacle(
  reader: Reader,
  { requestedBy, startedBy }: Pick<StoredApproval, 'requestedBy' | 'startedBy'>,
  { workspaceId, role, resolver }: Resolver,
): Promise<ResolverObstacle | null> {
  const others = await countOtherApprovers(reader, workspaceId, resolver);
  return obstacleTo({ role, resolver, requestedBy, startedBy, isAnotherEntitled: others > 0 });
}

type Request = { requestedBy: string; sessionId: string };

/**
 * The obstacles for approval requests as the kernel lists them. The gateway may receive its copy of a request
 * later, but the run or key that made the request already exists here.
 */
export async function findObstacles(
  reader: Reader,
  requests: readonly Request[],
  { workspaceId, role, resolver }: Resolver,
): Promise<(ResolverObstacle | null)[]> {
  const ofRuns = requests.filter(({ requestedBy }) => requestedBy === agentOf(workspaceId));
  const keyIds = requests.flatMap(({ requestedBy }) => keyOfPrincipal(requestedBy) ?? []);
  const runIds = ofRuns.map(({ sessionId }) => sessionId);
  const [starters, makers, others] = await Promise.all([
    findRunStarters(reader, workspaceId, runIds),
    findKeyMakers(reader, workspaceId, keyIds),
    countOtherApprovers(reader, workspaceId, resolver),
  ]);
  return requests.map(({ requestedBy, sessionId }) => {
    const keyId = keyOfPrincipal(requestedBy);
    const isOfRun = requestedBy === agentOf(workspaceId);
    const ofKey = keyId === null ? null : makers.get(keyId);
    const startedBy = isOfRun ? starters.get(sessionId) : ofKey;
    return obstacleTo({ role, resolver, requestedBy, startedBy, isAnotherEntitled: others > 0 });
  });
}
