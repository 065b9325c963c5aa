import { throttleTarget } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleOnce } from '../../handle-once.ts';
import { answerCommand, undelivered } from '../../ops/answer-command.ts';
import { giveStop } from '../../ops/give-stop.ts';

export const throttleTargetRoute = (context: Context) =>
  handleOnce(context)(throttleTarget)(async ({ body, caller, requestId }, once) => {
    const { databaseNow } = context;
    const commands = { databaseNow, transaction: once(undelivered) };
    return await answerCommand(context, await giveStop(commands, 'throttle', body, { caller, requestId }), caller);
  });
