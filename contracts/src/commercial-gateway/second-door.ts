import type { AnyRoute, RouteDefinition, Shape } from '../route.ts';

type Gates = Pick<
  RouteDefinition<never, never, never, never>,
  'leastRole' | 'right' | 'keyScopes' | 'needsPresence' | 'alsoStatus'
> & {
  auth: 'commercial';
  secondDoorOf: string;
  forward: Record<never, never>;
  status: number;
  bodyBytesMax: number;
  errors: NonNullable<AnyRoute['errors']>;
};

/**
 * The members that a route of the basic API shares with the route that it calls for its caller. They are role, right,
 * scopes of keys, proof of presence, statuses, body limit and errors. Both routes have the same gates.
 */
export function gatesOf(inner: AnyRoute): Gates {
  const { leastRole = personRoleOf(inner), right, keyScopes, needsPresence, alsoStatus, status, bodyBytesMax } = inner;
  return {
    auth: 'commercial',
    secondDoorOf: inner.operation,
    forward: {},
    ...(leastRole && { leastRole }),
    ...(right && { right }),
    ...(keyScopes && { keyScopes: keyScopes.filter((scope) => scope !== 'read' && scope !== 'write') }),
    ...(needsPresence && { needsPresence }),
    ...(alsoStatus && { alsoStatus }),
    ...{ status, bodyBytesMax },
    errors: [...new Set([...(inner.errors ?? []), 'GATEWAY_UNAVAILABLE' as const, 'PERMISSION_DENIED' as const])],
  };
}

/** For routes of the gateway, the auth class is the role. */
function personRoleOf({ auth }: AnyRoute): Gates['leastRole'] {
  return auth === 'member' || auth === 'partner' || auth === 'owner' ? auth : undefined;
}

/** A shape of the route that a basic route calls. */
export function shapeOf<Value>(shape: Shape<Value> | undefined): Shape<Value> {
  if (shape === undefined) throw new Error('The route does not have this schema');
  return shape;
}
