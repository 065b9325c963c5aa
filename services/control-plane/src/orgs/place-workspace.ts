import { putTenant } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { markPlaced, type Owned } from '../store/orgs.ts';

/** A workspace stays with its organisation: the kernel is told once, and takes the same again as a confirmation. */
const onlyVersion = 1;

/** Tells the kernel whose a workspace is: from then on a fence around the organisation stands around it. Throws GOVERNANCE_UNAVAILABLE. */
export async function placeWorkspace(
  { kernel, transaction, now }: Pick<Context, 'kernel' | 'transaction' | 'now'>,
  { workspaceId: tenant, orgId: org_id }: Owned,
): Promise<void> {
  const body = { version: onlyVersion, org_id };
  await answerOf('kernel', () => kernel.own({ putTenant }).putTenant({ params: { tenant }, body }));
  await transaction((tx) => markPlaced(tx, tenant, now()));
}
