import type { AnyRoute, Forward } from '../route.ts';
import { commercialRoutes, controlPlaneRoutes, kernelRoutes } from './service-routes.ts';

/** A route of another service that the gateway serves by forwarding requests and answers unchanged. */
export type Forwarding = {
  to: 'governance-kernel' | 'control-plane' | 'commercial-gateway';
  /** The route as the gateway serves it. Path, body limit and answers are those of the other service. */
  route: AnyRoute;
  /** The limit class of anonymous callers. */
  limit: NonNullable<Forward['limit']>;
  /** The service receives a delegation, to call the gateway as the caller. */
  delegates: boolean;
  /** Requests wait until the kernel has confirmed the settings of the workspace. */
  needsSettings: boolean;
  /** The bearer token of the caller is forwarded, since it is a credential of the other service. */
  passesBearer: boolean;
  /** The longest pause of the other service, before its answer or within it. */
  silenceMaxMs: number;
  /** The longest duration of one answer. A caller who needs longer connects and authenticates again. */
  answerMaxMs: number;
};

const minuteMs = 60_000;

const durations: Readonly<Record<NonNullable<Forward['answer']>, Pick<Forwarding, 'silenceMaxMs' | 'answerMaxMs'>>> = {
  short: { silenceMaxMs: minuteMs, answerMaxMs: minuteMs },
  /** A stream ends after five minutes, so an ended session, key or membership reads no longer than that. */
  stream: { silenceMaxMs: minuteMs, answerMaxMs: 5 * minuteMs },
  /** Longer than the kernel's limit for a model or a tool. The kernel ends such a call itself and seals the reason. */
  upstream: { silenceMaxMs: 10 * minuteMs, answerMaxMs: 60 * minuteMs },
};

/** Every route that the gateway forwards. */
export const forwarding: readonly Forwarding[] = [
  ...forwardedRoutes('governance-kernel', kernelRoutes, kernelRouteAtTheDoor),
  ...forwardedRoutes('control-plane', controlPlaneRoutes, controlPlaneRouteAtTheDoor),
  ...forwardedRoutes('commercial-gateway', commercialRoutes, commercialRouteAtTheDoor),
];

function forwardedRoutes(
  to: Forwarding['to'],
  routes: Readonly<Record<string, AnyRoute>>,
  atTheDoor: (route: AnyRoute, forward: Forward) => AnyRoute,
): Forwarding[] {
  return Object.values(routes).flatMap((route) => {
    const { forward } = route;
    if (forward === undefined) return [];
    const { limit = 'public', needsSettings = false, passesBearer = false, answer = 'short' } = forward;
    const delegates = to === 'control-plane' || route.auth === 'commercial';
    const terms = { limit, delegates, needsSettings, passesBearer, ...durations[answer] };
    return { to, route: atTheDoor(route, forward), ...terms };
  });
}

/** The gateway checks the role or the right of the caller, and sends the kernel an assertion of the caller. */
function kernelRouteAtTheDoor(route: AnyRoute, { opensTo, right, sessionOnly, needsPresence }: Forward): AnyRoute {
  if (opensTo === undefined) throw new Error(`The forwarded route ${route.operation} does not declare who may call it`);
  return {
    ...route,
    auth: opensTo,
    ...(right && { right }),
    ...(sessionOnly && { sessionOnly }),
    ...(needsPresence && { needsPresence }),
  };
}

/**
 * Routes of the control plane are open to people, and to keys with `keyScopes`. The control plane itself checks proofs
 * of presence.
 */
function controlPlaneRouteAtTheDoor(route: AnyRoute): AnyRoute {
  // The control plane stores the refresh cookies, so it checks them.
  if (route.auth === 'public' || route.provenBy === 'refresh_cookie') return { ...route, auth: 'public' };
  const { needsPresence: _, ...opened } = route;
  return { ...opened, auth: route.leastRole ?? 'session', sessionOnly: true };
}

/**
 * Routes of the commercial gateway are open to people, and to keys with `keyScopes`. The commercial gateway itself
 * checks roles and proofs of presence.
 */
function commercialRouteAtTheDoor(route: AnyRoute): AnyRoute {
  if (route.auth === 'public' || route.forward?.passesBearer === true) return { ...route, auth: 'public' };
  const { needsPresence: _, ...opened } = route;
  return {
    ...opened,
    auth: route.leastRole ?? (route.auth === 'commercial' ? 'commercial' : 'session'),
    sessionOnly: true,
  };
}
