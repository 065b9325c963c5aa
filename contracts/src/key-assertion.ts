import { z } from 'zod';
import { ApiKeyScope } from './api-key-terms.ts';
import { keyOfPrincipal } from './assertion.ts';
import { commercialAssertionTerms, delegationTerms, PersonRole, personAssertionTerms } from './person-assertion.ts';
import { PrincipalId, UserId, WorkspaceId } from './scalars.ts';

/** A key assertion states to one service which API key calls. It is never valid as an assertion of a person. */
export const keyAssertionTerms = {
  type: 'countersign-key+jwt',
  issuer: personAssertionTerms.issuer,
  lifeSecondsMax: personAssertionTerms.lifeSecondsMax,
} as const;

const Seconds = z.int().min(0);

function keyClaims<Audience extends string>(audience: Audience) {
  return z
    .strictObject({
      iss: z.literal(keyAssertionTerms.issuer),
      aud: z.literal(audience),
      /** The principal of the key. It names the environment of the key. */
      sub: PrincipalId.refine((principal) => keyOfPrincipal(principal) !== null, 'must be the principal of an API key'),
      /** The person who created the key. */
      sponsor: UserId,
      workspace_id: WorkspaceId,
      /** The role of the key, or the lower role of its creator. */
      role: PersonRole.exclude(['owner']),
      scopes: z.array(ApiKeyScope).min(1).max(ApiKeyScope.options.length),
      /** The service to which the delegation was issued. Absent in an assertion. */
      azp: z.enum([personAssertionTerms.audience, commercialAssertionTerms.audience]).optional(),
      iat: Seconds,
      exp: Seconds,
    })
    .refine(({ iat, exp }) => exp > iat && exp - iat <= keyAssertionTerms.lifeSecondsMax, {
      path: ['exp'],
      message: `must be at most ${keyAssertionTerms.lifeSecondsMax} s after iat`,
    });
}

/** The assertion of a key to the control plane or the commercial gateway, or the delegation to one of them. */
export const KeyClaims = {
  'control-plane': keyClaims(personAssertionTerms.audience),
  'commercial-gateway': keyClaims(commercialAssertionTerms.audience),
  gateway: keyClaims(delegationTerms.audience),
} as const;
export type KeyAudience = keyof typeof KeyClaims;
export type KeyClaims = z.infer<(typeof KeyClaims)[KeyAudience]>;
