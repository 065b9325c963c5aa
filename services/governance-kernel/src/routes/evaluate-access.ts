import { evaluateAccess } from '@countersign/contracts/governance-kernel';
import { answerAccesses, underSnapshot } from '../authzen/answer-accesses.ts';
import { stringErrors } from '../authzen/string-errors.ts';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';

export const evaluateAccessRoute = (kernel: Context) =>
  handleTenant(
    evaluateAccess,
    stringErrors,
  )(async ({ caller, body }) => {
    const decisions = await underSnapshot(kernel, caller.tenant, (standing) =>
      answerAccesses(kernel, standing, [body]),
    );
    return decisions[0] ?? { decision: false };
  });
