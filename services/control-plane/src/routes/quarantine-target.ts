import { quarantineTarget } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { handleWorkspace } from '../handle.ts';
import { answerCommand } from '../ops/answer-command.ts';
import { giveStop } from '../ops/give-stop.ts';

export const quarantineTargetRoute = (context: Context) =>
  handleWorkspace(quarantineTarget)(async ({ body, caller, requestId }) =>
    answerCommand(context, await giveStop(context, 'quarantine', body, { caller, requestId }), caller),
  );
