import { listApprovals } from '@countersign/contracts/governance-kernel';
import { approvalWithArgs } from '../../controls/approvals/approval-view.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import * as store from '../../store/approval-store.ts';

export const listApprovalsRoute = ({ reader, clock, argsCipher, callableTools }: Context) =>
  handleTenant(listApprovals)(async ({ query, caller }) => {
    const now = clock();
    const filter = { tenant: caller.tenant, state: query.state, session: query.session_id, id: query.approval_id };
    const omitsArgs = query.omit === 'args';
    const policy = omitsArgs ? null : await callableTools.activePolicy(caller);
    return await store.listApprovals(reader, filter, {
      page: query,
      now,
      omitsArgs,
      item: (row) => approvalWithArgs(row, { nowMs: now.getTime(), argsCipher, policy }),
    });
  });
