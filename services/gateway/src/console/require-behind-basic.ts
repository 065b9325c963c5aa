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
 * Limits which routes a delegation of the commercial gateway may use: those that its basic API needs. Without this
 * limit, a read request would let that service use every route of the person. `service` is `null` when the caller sent
 * the request directly. Throws PERMISSION_DENIED.
 */
export function requireBehindBasic(service: PersonAudience | null, { operation }: AnyRoute): void {
  if (service !== 'commercial-gateway' || behindBasic.has(operation)) return;
  throw new AppError('PERMISSION_DENIED', 'Services cannot use this route on behalf of a caller');
}
