import { AppError } from '@countersign/contracts';
import { putPolicyCeilings } from '@countersign/contracts/governance-kernel';
import { answer, etag, ifMatchTags, requireMatch } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { handleSystem } from '../handle.ts';
import { activationOf } from '../policy/activation.ts';
import { ceilingsView } from '../policy/ceilings-view.ts';
import type { CeilingsRow } from '../policy/policy-ceilings.ts';
import { setCeilings } from '../policy/set-ceilings.ts';

/** Sets the rules that every bundle of a tenant must hold, and may put such a bundle into force with them. */
export const putPolicyCeilingsRoute = (kernel: Context) =>
  handleSystem(putPolicyCeilings)(async ({ params: { tenant }, body, caller, req }) => {
    const { version, rules, needs_decision: needsDecision, set_by: setBy, activation } = body;
    const tags = ifMatchTags(req);
    const row = await setCeilings(kernel, {
      ...{ tenant, version, rules, needsDecision, setBy },
      activation: activation === undefined ? null : activationOf(activation, { tenant, by: caller.principal }),
      assertMatch: (standing) => assertMatch(standing, tags),
    });
    return answer(200, ceilingsView(row), etag(String(row.version)));
  });

function assertMatch(standing: CeilingsRow | null, tags: ReturnType<typeof ifMatchTags>): void {
  if (standing !== null) requireMatch(tags, String(standing.version));
  else if (tags !== null)
    throw new AppError('PRECONDITION_FAILED', 'There are no ceilings to replace', { param: 'If-Match' });
}
