import type { PersonRole, WorkspaceId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';

/** A caller of the basic API, in the workspace that the request addresses. */
export type BasicCaller = {
  /** The organisation that owns the workspace. */
  orgId: OrgId;
  workspaceId: WorkspaceId;
  role: PersonRole;
  /** The author of audit entries. */
  actor: string;
  /** Credential for calls to the gateway as this caller. */
  delegation: string;
  /** Credential for calls to the kernel as this caller. */
  assertion: string;
};
