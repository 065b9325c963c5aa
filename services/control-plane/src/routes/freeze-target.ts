import { freezeTarget } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { handleWorkspace } from '../handle.ts';
import { answerCommand } from '../ops/answer-command.ts';
import { giveStop } from '../ops/give-stop.ts';

export const freezeTargetRoute = (context: Context) =>
  handleWorkspace(freezeTarget)(async ({ body, caller, requestId }) =>
    answerCommand(context, await giveStop(context, 'freeze', body, { caller, requestId }), caller),
  );
