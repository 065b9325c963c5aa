import { getRun } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { handleWorkspace } from '../../handle.ts';
import { findRun } from '../../store/runs.ts';

export const getRunRoute = ({ database }: Context) =>
  handleWorkspace(getRun)(async ({ params, caller: { workspaceId } }) => {
    const run = await findRun(database.reader, workspaceId, params.runId);
    if (run === null) throw notFound();
    return run;
  });
