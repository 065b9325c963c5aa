import { listInboxApprovals } from '@countersign/contracts/control-plane';
import { listApprovals } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleWorkspace } from '../handle.ts';
import { answerOf } from '../siblings/answer-of.ts';

export const listInboxApprovalsRoute = ({ kernel }: Context) =>
  handleWorkspace(listInboxApprovals)(({ caller, query, signal }) =>
    answerOf('kernel', () => kernel.as(caller.assertion, { listApprovals }).listApprovals({ query, signal })),
  );
