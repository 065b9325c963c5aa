import { AppError } from '@countersign/contracts';
import { evaluateAccesses } from '@countersign/contracts/governance-kernel';
import { itemsOf } from '../../doors/authzen/batch-items.ts';
import { answerItems } from '../../doors/authzen/answer-items.ts';
import { stringErrors } from '../../doors/authzen/string-errors.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';

/** Without items the request itself is evaluated, and refused when malformed. */
export const evaluateAccessesRoute = (kernel: Context) =>
  handleTenant(
    evaluateAccesses,
    stringErrors,
  )(async ({ caller, body }) => {
    const { evaluations, options } = body;
    if (evaluations.length > 0) {
      const items = itemsOf(body, evaluations);
      return {
        evaluations: await answerItems(kernel, caller.tenant, { items, semantic: options.evaluations_semantic }),
      };
    }
    const [single] = itemsOf(body, [{}]);
    if (single === undefined || 'refused' in single)
      throw new AppError(
        'INVALID_REQUEST',
        'The body is neither an access request nor a list of evaluations. Send one of them',
      );
    const [decision] = await answerItems(kernel, caller.tenant, { items: [single], semantic: 'execute_all' });
    return decision ?? { decision: false };
  });
