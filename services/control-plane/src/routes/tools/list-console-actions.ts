import { listConsoleActions } from '@countersign/contracts/control-plane';
import { listActions } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { runOfAction } from '../../runs/run-of-action.ts';
import { answerOf } from '../../siblings/answer-of.ts';

export const listConsoleActionsRoute = ({ kernel }: Context) =>
  handleWorkspace(listConsoleActions)(async ({ caller: { assertion, workspaceId }, query, signal }) => {
    const asPerson = kernel.as(assertion, { listActions });
    const { data, next_cursor } = await answerOf('kernel', () => asPerson.listActions({ query, signal }));
    return { data: data.map((action) => ({ ...action, run_id: runOfAction(action, workspaceId) })), next_cursor };
  });
