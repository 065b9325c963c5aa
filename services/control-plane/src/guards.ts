import { AppError, type SignInId, type UserId } from '@countersign/contracts';
import { anonymous, bearerToken, secretsEqual, type GuardRequest, type Guards } from '@countersign/service-kit';
import type { Context } from './context.ts';

/** A person whom the gateway asserts to be signed in. */
export type PersonCaller = { userId: UserId; sessionId: SignInId };
/** A browser that brings a refresh cookie, which the route judges itself. */
export type Renewing = { renewing: true };
export type SiblingCaller = { sibling: true };

type Caller = PersonCaller | Renewing | SiblingCaller | undefined;

/** Who may call which class of route. */
export function createGuards({ config, assertions }: Pick<Context, 'config' | 'assertions'>): Guards<Caller> {
  return {
    public: anonymous,
    session: async (request) => {
      if (request.route.provenBy === 'refresh_cookie') return { renewing: true };
      const { sub, sid } = await assertions.verify(bearerToken(request.req));
      return { userId: sub, sessionId: sid };
    },
    service_internal: ({ req }: GuardRequest) => {
      if (!secretsEqual(bearerToken(req), config.serviceApiKey))
        throw new AppError('CREDENTIALS_INVALID', 'The bearer credential is not valid for this route');
      return { sibling: true };
    },
  };
}

export function callerKey(caller: unknown): string | null {
  if (typeof caller !== 'object' || caller === null || !('userId' in caller)) return null;
  return String(caller.userId);
}
