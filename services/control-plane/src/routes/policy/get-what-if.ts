import { AppError, WhatIfId } from '@countersign/contracts';
import { getWhatIf } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { knownId } from '../../siblings/known-id.ts';
import { findJob } from '../../store/what-if-jobs.ts';

export const getWhatIfRoute = ({ database }: Context) =>
  handleWorkspace(getWhatIf)(async ({ params: { report_id: id }, caller: { workspaceId } }) => {
    const job = await findJob(database.reader, workspaceId, knownId(WhatIfId, id));
    if (job === null)
      throw new AppError(
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    return job;
  });
