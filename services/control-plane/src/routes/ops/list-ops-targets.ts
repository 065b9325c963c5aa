import { listOpsTargets } from '@countersign/contracts/control-plane';
import { listBoundaryTargets } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { answerOf } from '../../siblings/answer-of.ts';

export const listOpsTargetsRoute = ({ kernel }: Context) =>
  handleWorkspace(listOpsTargets)(({ caller: { assertion }, signal }) =>
    answerOf('kernel', () => kernel.as(assertion, { listBoundaryTargets }).listBoundaryTargets({ signal })),
  );
