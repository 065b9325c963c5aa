import { AppError, type AnyRoute } from '@countersign/contracts';
import { commercialRoutes } from '@countersign/contracts/routes';
import type { PersonAudience } from '@countersign/service-kit';

const routes: readonly AnyRoute[] = Object.values(commercialRoutes);
const behindBasic: ReadonlySet<string> = new Set(
  routes.flatMap(({ secondDoorOf, alsoCalls = [] }) => [
    ...(secondDoorOf === undefined ? [] : [secondDoorOf]),
    ...alsoCalls,
  ]),
);

/**
 * A delegation of the commercial gateway opens the routes behind its basic API. Without this limit, a request that only reads would open each
 * route of its person to that service. `service` is `null` when callers came themselves. Throws PERMISSION_DENIED.
 */
export function requireBehindBasic(service: PersonAudience | null, { operation }: AnyRoute): void {
  if (service !== 'commercial-gateway' || behindBasic.has(operation)) return;
  throw new AppError('PERMISSION_DENIED', 'A service does not reach this route on behalf of a caller');
}
