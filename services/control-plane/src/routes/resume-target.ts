import { resumeTarget } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { handleWorkspace } from '../handle.ts';
import { answerCommand } from '../ops/answer-command.ts';
import { liftStop } from '../ops/lift-stop.ts';

export const resumeTargetRoute = (context: Context) =>
  handleWorkspace(resumeTarget)(async ({ body, caller, requestId }) =>
    answerCommand(context, await liftStop(context, body, { caller, requestId }), caller),
  );
