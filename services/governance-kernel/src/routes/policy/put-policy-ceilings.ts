import { AppError } from '@countersign/contracts';
import { putPolicyCeilings } from '@countersign/contracts/governance-kernel';
import { answer, etag, ifMatchTags, requireMatch } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { activationOf } from '../../controls/policy/activation.ts';
import { ceilingsView } from '../../controls/policy/ceilings-view.ts';
import type { CeilingsRow } from '../../controls/policy/policy-ceilings.ts';
import { setCeilings } from '../../controls/policy/set-ceilings.ts';

/** Sets the rules that every bundle of a tenant must contain, and can activate such a bundle together with them. */
export const putPolicyCeilingsRoute = (kernel: Context) =>
  handleSystem(putPolicyCeilings)(async ({ params: { tenant }, body, caller, req }) => {
    const { version, rules, needs_decision: needsDecision, set_by: setBy, activation } = body;
    const tags = ifMatchTags(req);
    const row = await setCeilings(kernel, {
      ...{ tenant, version, rules, needsDecision, setBy },
      activation: activation === undefined ? null : activationOf(activation, { tenant, by: caller.principal }),
      assertMatch: (current) => assertMatch(current, tags),
    });
    return answer(200, ceilingsView(row), etag(String(row.version)));
  });

function assertMatch(current: CeilingsRow | null, tags: ReturnType<typeof ifMatchTags>): void {
  if (current !== null) requireMatch(tags, String(current.version));
  else if (tags !== null)
    throw new AppError(
      'PRECONDITION_FAILED',
      'The tenant has no policy ceilings to replace. Send the request without If-Match',
      { param: 'If-Match' },
    );
}
