import { resumeTarget } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleOnce } from '../../handle-once.ts';
import { answerCommand, undelivered } from '../../ops/answer-command.ts';
import { liftStop } from '../../ops/lift-stop.ts';

export const resumeTargetRoute = (context: Context) =>
  handleOnce(context)(resumeTarget)(async ({ body, caller, requestId }, once) =>
    answerCommand(
      context,
      await liftStop(context, body, { caller, requestId, transaction: once(undelivered) }),
      caller,
    ),
  );
