import { z } from 'zod';
import { SignInId, UserId } from './scalars.ts';

/** How a person proved who they are. */
export const ProofMethod = z.enum(['code', 'passkey', 'oidc']);
export type ProofMethod = z.infer<typeof ProofMethod>;

/** A person assertion says once, to the control plane, which person is signed in; it names no workspace and opens nothing elsewhere. */
export const personAssertionTerms = {
  type: 'countersign-person+jwt',
  issuer: 'countersign-gateway',
  audience: 'countersign-control-plane',
  /** Long enough for one request that waits its turn. */
  lifeSecondsMax: 60,
} as const;

/** `1`: the gateway found that the browser runs on the gateway's own machine. It passes no such header on. */
export const fromThisMachineHeader = 'x-countersign-from-this-machine';

const Seconds = z.int().min(0);

export const PersonClaims = z
  .strictObject({
    iss: z.literal(personAssertionTerms.issuer),
    /** One audience: a list is refused. */
    aud: z.literal(personAssertionTerms.audience),
    sub: UserId,
    /** The session of the control plane that the browser brought. */
    sid: SignInId,
    iat: Seconds,
    exp: Seconds,
  })
  .refine(({ iat, exp }) => exp > iat && exp - iat <= personAssertionTerms.lifeSecondsMax, {
    path: ['exp'],
    message: `must be at most ${personAssertionTerms.lifeSecondsMax} s after iat`,
  });
export type PersonClaims = z.infer<typeof PersonClaims>;
