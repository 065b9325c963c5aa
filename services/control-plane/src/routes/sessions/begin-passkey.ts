import { PrincipalId } from '@countersign/contracts';
import { beginPasskey } from '@countersign/contracts/control-plane';
import { registerPasskey } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { answerOf } from '../../siblings/answer-of.ts';

export const beginPasskeyRoute = ({ kernel }: Context) =>
  handleWorkspace(beginPasskey)(({ caller: { userId, assertion } }) =>
    answerOf('kernel', () =>
      kernel.as(assertion, { registerPasskey }).registerPasskey({ params: { principal: PrincipalId.parse(userId) } }),
    ),
  );
