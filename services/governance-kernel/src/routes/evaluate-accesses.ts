import { AppError } from '@countersign/contracts';
import { evaluateAccesses } from '@countersign/contracts/governance-kernel';
import { itemsOf } from '../authzen/batch-items.ts';
import { answerItems } from '../authzen/answer-items.ts';
import { stringErrors } from '../authzen/string-errors.ts';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';

/** Without items the request is one itself, and is refused where it is malformed. */
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
      throw new AppError('INVALID_REQUEST', 'It is no access request, and holds no evaluations');
    const [decision] = await answerItems(kernel, caller.tenant, { items: [single], semantic: 'execute_all' });
    return decision ?? { decision: false };
  });
