import { freezeTarget } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleOnce } from '../../handle-once.ts';
import { answerCommand, undelivered } from '../../ops/answer-command.ts';
import { giveStop } from '../../ops/give-stop.ts';

export const freezeTargetRoute = (context: Context) =>
  handleOnce(context)(freezeTarget)(async ({ body, caller, requestId }, once) => {
    const { databaseNow } = context;
    const commands = { databaseNow, transaction: once(undelivered) };
    return await answerCommand(context, await giveStop(commands, 'freeze', body, { caller, requestId }), caller);
  });
