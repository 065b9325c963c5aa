import { evaluateAccess } from '@countersign/contracts/governance-kernel';
import { answerAccesses, underSnapshot } from '../../doors/authzen/answer-accesses.ts';
import { stringErrors } from '../../doors/authzen/string-errors.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';

export const evaluateAccessRoute = (kernel: Context) =>
  handleTenant(
    evaluateAccess,
    stringErrors,
  )(async ({ caller, body }) => {
    const decisions = await underSnapshot(kernel, caller.tenant, (current) => answerAccesses(kernel, current, [body]));
    return decisions[0] ?? { decision: false };
  });
