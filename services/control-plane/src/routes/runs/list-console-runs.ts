import { listConsoleRuns } from '@countersign/contracts/control-plane';
import { listWorkspaceRuns } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { runView } from '../../runs/run-view.ts';
import { answerOf } from '../../siblings/answer-of.ts';

export const listConsoleRunsRoute = ({ gateway }: Context) =>
  handleWorkspace(listConsoleRuns)(async ({ caller, query, signal }) => {
    const asPerson = gateway.as(caller.delegation, { listWorkspaceRuns });
    const input = { query: { ...query, workspaceId: caller.workspaceId }, signal };
    const { data, nextCursor } = await answerOf('gateway', () => asPerson.listWorkspaceRuns(input));
    return { data: data.map(runView), next_cursor: nextCursor };
  });
