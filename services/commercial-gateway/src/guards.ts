import { AppError, type SignInId, type UserId } from '@countersign/contracts';
import {
  anonymous,
  bearerToken,
  requirePresence,
  secretsEqual,
  type GuardRequest,
  type Guards,
} from '@countersign/service-kit';
import type { Context } from './context.ts';

/** A person whose sign-in the gateway asserts. */
export type PersonCaller = {
  userId: UserId;
  sessionId: SignInId;
  /** When the person last proved their presence. */
  provenAt: Date;
};
export type SiblingCaller = { sibling: true };

type Guarding = Pick<Context, 'config' | 'assertions' | 'now'>;

/** Who may call each class of route. */
export function createGuards(context: Guarding): Guards<PersonCaller | SiblingCaller | undefined> {
  return {
    public: anonymous,
    session: async (request) => {
      const person = await personOf(context, request);
      if (request.route.needsPresence === true) requirePresence(person.provenAt, context.now());
      return person;
    },
    commercial_admin: async (request) => {
      const person = await personOf(context, request);
      if (!context.config.installationAdmins.has(person.userId))
        throw new AppError(
          'PERMISSION_DENIED',
          'You do not administer this installation. Ask the operator to add your user id',
        );
      requirePresence(person.provenAt, context.now());
      return person;
    },
    service_internal: ({ req }) => {
      if (!secretsEqual(bearerToken(req), context.config.serviceApiKey))
        throw new AppError('CREDENTIALS_INVALID', 'The bearer credential is not valid for this route');
      return { sibling: true };
    },
  };
}

async function personOf({ assertions }: Guarding, { req }: GuardRequest): Promise<PersonCaller> {
  const { sub, sid, auth_time } = await assertions.verify(bearerToken(req));
  return { userId: sub, sessionId: sid, provenAt: new Date(auth_time * 1_000) };
}

/** `null` when the caller is not a person: no idempotency key is shared between such callers. */
export function callerKey(caller: unknown): string | null {
  if (typeof caller !== 'object' || caller === null || !('userId' in caller)) return null;
  return String(caller.userId);
}
