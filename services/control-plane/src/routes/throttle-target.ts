import { throttleTarget } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { handleWorkspace } from '../handle.ts';
import { answerCommand } from '../ops/answer-command.ts';
import { giveStop } from '../ops/give-stop.ts';

export const throttleTargetRoute = (context: Context) =>
  handleWorkspace(throttleTarget)(async ({ body, caller, requestId }) =>
    answerCommand(context, await giveStop(context, 'throttle', body, { caller, requestId }), caller),
  );
