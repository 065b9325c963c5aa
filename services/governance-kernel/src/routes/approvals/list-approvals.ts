import { listApprovals } from '@countersign/contracts/governance-kernel';
import { approvalWithArgs } from '../../controls/approvals/approval-view.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import * as store from '../../store/approval-store.ts';
import { findActiveHash } from '../../store/policy-store.ts';

export const listApprovalsRoute = ({ reader, clock, argsCipher, policies }: Context) =>
  handleTenant(listApprovals)(async ({ query, caller }) => {
    const now = clock();
    const filter = { tenant: caller.tenant, state: query.state, session: query.session_id, id: query.approval_id };
    // A decision notices by itself that the policy has changed. This list does not.
    if (
      query.omit !== 'args' &&
      policies.current(caller.tenant)?.hash !== (await findActiveHash(reader, caller.tenant))
    )
      await policies.reload(caller.tenant);
    const policy = policies.current(caller.tenant);
    return await store.listApprovals(reader, filter, {
      page: query,
      now,
      omitsArgs: query.omit === 'args',
      item: (row) => approvalWithArgs(row, { nowMs: now.getTime(), argsCipher, policy }),
    });
  });
