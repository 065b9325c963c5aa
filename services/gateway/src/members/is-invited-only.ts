import type { User } from '@countersign/contracts/gateway';
import type { Tx } from '../store/database.ts';
import { listInvitesTo } from '../store/invites.ts';
import { findFirstMembership } from '../store/workspaces.ts';

/** Whether the person has no workspace, and an open invite to their proven address leads to one. */
export async function isInvitedOnly(tx: Tx, { id, email }: User, now: Date): Promise<boolean> {
  if (email === null || (await findFirstMembership(tx, id)) !== null) return false;
  return (await listInvitesTo(tx, email, now)).length > 0;
}
