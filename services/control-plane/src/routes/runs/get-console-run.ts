import { getConsoleRun } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { getRunOf } from '../../runs/get-run.ts';
import { runWithStepsView } from '../../runs/run-view.ts';

export const getConsoleRunRoute = (context: Context) =>
  handleWorkspace(getConsoleRun)(async ({ params, caller }) =>
    runWithStepsView(await getRunOf(context, params.run_id, caller)),
  );
