import { z } from 'zod';
import { holdsAll, rightsOf } from './rights.ts';
import { SignInId, UserId, WorkspaceId } from './scalars.ts';

/** How a person proved who they are. */
export const ProofMethod = z.enum(['code', 'passkey', 'oidc']);
export type ProofMethod = z.infer<typeof ProofMethod>;

/** The role of a person in a workspace. */
export const PersonRole = z.enum(['member', 'partner', 'owner']);
export type PersonRole = z.infer<typeof PersonRole>;

/** Whether a role includes the rights of the least role. */
export function hasRole(role: PersonRole, least: PersonRole): boolean {
  return holdsAll(rightsOf[role], rightsOf[least]);
}

/** A person assertion states the signed-in person once, to the control plane. Other services do not accept it. */
export const personAssertionTerms = {
  type: 'countersign-person+jwt',
  issuer: 'countersign-gateway',
  audience: 'countersign-control-plane',
  /** Long enough for one queued request. */
  lifeSecondsMax: 60,
} as const;

/** The same assertion for the commercial gateway. Each service accepts only its own audience. */
export const commercialAssertionTerms = {
  ...personAssertionTerms,
  audience: 'countersign-commercial-gateway',
} as const;

/**
 * A delegation is addressed to the gateway. With it, a service calls the gateway as the person of the current request.
 */
export const delegationTerms = {
  ...personAssertionTerms,
  type: 'countersign-delegation+jwt',
  audience: 'countersign-gateway',
} as const;

/** `1`: the browser runs on the gateway's own machine. The gateway does not forward this header from callers. */
export const fromThisMachineHeader = 'x-countersign-from-this-machine';

/**
 * The headers of the assertion for calls of the kernel as the person, and of the delegation for calls of the gateway.
 */
export const speakingHeaders = {
  kernel: 'x-countersign-speaks-at-kernel',
  gateway: 'x-countersign-speaks-at-gateway',
} as const;

const Seconds = z.int().min(0);

/** The service that received the delegation. Default: the control plane. */
const AuthorizedParty = z.literal(commercialAssertionTerms.audience).optional();
const NoParty = AuthorizedParty.refine((party): boolean => party === undefined, 'is allowed only in delegations');

function personClaims<Audience extends string>(audience: Audience, azp = NoParty) {
  return z
    .strictObject({
      azp,
      iss: z.literal(personAssertionTerms.issuer),
      /** Exactly one audience. A list is rejected. */
      aud: z.literal(audience),
      sub: UserId,
      /** The sign-in of the request. */
      sid: SignInId,
      /** The time of the person's last proof of presence. */
      auth_time: Seconds,
      /**
       * The workspace that the request addresses, and the role of the person in it. Absent when the request addresses
       * none.
       */
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
      message: 'must be sent together with workspace_id',
    });
}

export const PersonClaims = personClaims(personAssertionTerms.audience);
export type PersonClaims = z.infer<typeof PersonClaims>;

export const CommercialPersonClaims = personClaims(commercialAssertionTerms.audience);
export type CommercialPersonClaims = z.infer<typeof CommercialPersonClaims>;

export const DelegationClaims = personClaims(delegationTerms.audience, AuthorizedParty);
export type DelegationClaims = z.infer<typeof DelegationClaims>;
