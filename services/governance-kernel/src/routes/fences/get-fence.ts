import { AppError } from '@countersign/contracts';
import { callsInFlightMax, getFence } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { fenceView } from '../../controls/fences/fence-view.ts';
import { canonicalScope } from '../../controls/fences/scopes.ts';
import { handleSystem } from '../../handle.ts';
import { findFences, listCallsInFlight } from '../../store/fence-store.ts';

/** A fence and the calls in progress in its scope. */
export const getFenceRoute = ({ reader, clock }: Context) =>
  handleSystem(getFence)(async ({ params }) => {
    const scope = canonicalScope(params.scope);
    const [fence] = await findFences(reader, [scope]);
    if (fence === undefined) throw new AppError('NOT_FOUND', 'No fence is set for this scope');
    const { calls, mayBeMore } = await listCallsInFlight(reader, scope, callsInFlightMax);
    return {
      ...fenceView(fence, clock().getTime()),
      in_flight: calls,
      more_in_flight: mayBeMore,
    };
  });
