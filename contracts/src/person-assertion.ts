import { z } from 'zod';
import { holdsAll, rightsOf } from './rights.ts';
import { SignInId, UserId, WorkspaceId } from './scalars.ts';

/** How a person proved who they are. */
export const ProofMethod = z.enum(['code', 'passkey', 'oidc']);
export type ProofMethod = z.infer<typeof ProofMethod>;

/** The role of a person in a workspace. */
export const PersonRole = z.enum(['member', 'partner', 'owner']);
export type PersonRole = z.infer<typeof PersonRole>;

/** Whether a person of this role may do all that the least role may. */
export function hasRole(role: PersonRole, least: PersonRole): boolean {
  return holdsAll(rightsOf[role], rightsOf[least]);
}

/** A person assertion says once, to the control plane, which person is signed in; it opens nothing elsewhere. */
export const personAssertionTerms = {
  type: 'countersign-person+jwt',
  issuer: 'countersign-gateway',
  audience: 'countersign-control-plane',
  /** Long enough for one request that waits its turn. */
  lifeSecondsMax: 60,
} as const;

/** The same assertion for the commercial gateway. Each service accepts only its own audience. */
export const commercialAssertionTerms = {
  ...personAssertionTerms,
  audience: 'countersign-commercial-gateway',
} as const;

/** A delegation says the same to the gateway itself: by it a service calls the gateway as the person whose request it serves. */
export const delegationTerms = {
  ...personAssertionTerms,
  type: 'countersign-delegation+jwt',
  audience: 'countersign-gateway',
} as const;

/** `1`: the gateway found that the browser runs on the gateway's own machine. It passes no such header on. */
export const fromThisMachineHeader = 'x-countersign-from-this-machine';

/** The assertion by which a service calls the kernel as the person, and the delegation by which it calls the gateway. */
export const speakingHeaders = {
  kernel: 'x-countersign-speaks-at-kernel',
  gateway: 'x-countersign-speaks-at-gateway',
} as const;

const Seconds = z.int().min(0);

/** The service that was issued a delegation. Absent: the control plane. */
const AuthorizedParty = z.literal(commercialAssertionTerms.audience).optional();
const NoParty = AuthorizedParty.refine((party): boolean => party === undefined, 'is for delegations only');

function personClaims<Audience extends string>(audience: Audience, azp = NoParty) {
  return z
    .strictObject({
      azp,
      iss: z.literal(personAssertionTerms.issuer),
      /** One audience: a list is refused. */
      aud: z.literal(audience),
      sub: UserId,
      /** The sign-in that the request came by. */
      sid: SignInId,
      /** When the person last proved to be there. */
      auth_time: Seconds,
      /** The workspace that the request addresses, and what the person is there; absent: it addresses none. */
      workspace_id: WorkspaceId.optional(),
      role: PersonRole.optional(),
      iat: Seconds,
      exp: Seconds,
    })
    .refine(({ iat, exp }) => exp > iat && exp - iat <= personAssertionTerms.lifeSecondsMax, {
      path: ['exp'],
      message: `must be at most ${personAssertionTerms.lifeSecondsMax} s after iat`,
    })
    .refine(({ workspace_id: workspace, role }) => (workspace === undefined) === (role === undefined), {
      path: ['role'],
      message: 'must come with workspace_id',
    });
}

export const PersonClaims = personClaims(personAssertionTerms.audience);
export type PersonClaims = z.infer<typeof PersonClaims>;

export const CommercialPersonClaims = personClaims(commercialAssertionTerms.audience);
export type CommercialPersonClaims = z.infer<typeof CommercialPersonClaims>;

export const DelegationClaims = personClaims(delegationTerms.audience, AuthorizedParty);
export type DelegationClaims = z.infer<typeof DelegationClaims>;
