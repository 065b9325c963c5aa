import { agentOf, PrincipalId, TenantId, UserId } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';
import type { Asserted } from '@countersign/service-kit';

type Agent = { workspaceId: string; startedBy?: string };

/**
 * The assertion for the agent of a workspace and the person who started its run. It opens governed routes and never
 * votes.
 */
export function assertedAgent({ workspaceId, startedBy }: Agent): Asserted {
  const principal = agentOf(workspaceId);
  return startedBy === undefined
    ? spokenFor(workspaceId, principal, 'agent')
    : assertedKey({ workspaceId, principal, sponsor: startedBy });
}

/** The assertion for a key of a workspace and the person who created it. */
export function assertedKey(key: { workspaceId: string; principal: string; sponsor: string }): Asserted {
  return { ...spokenFor(key.workspaceId, key.principal, 'agent'), sponsor: UserId.parse(key.sponsor) };
}

export type AssertedMember = { workspaceId: string; userId: string; role: Role; membersVersion: number };

/** The assertion for a person, with the role and the version of the list of members that contains it. */
export function assertedPerson({ workspaceId, userId, role, membersVersion }: AssertedMember): Asserted {
  return { ...spokenFor(workspaceId, userId, role), members_version: membersVersion };
}

function spokenFor(workspaceId: string, principal: string, role: Asserted['role']) {
  return { workspace_id: TenantId.parse(workspaceId), sub: PrincipalId.parse(principal), role };
}
