import { z } from 'zod';
import { PrincipalId, TenantId } from '../scalars.ts';

/** RFC 7638 thumbprint of an Ed25519 public key: SHA-256 in base64url. */
export const KeyThumbprint = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}$/, 'must be an RFC 7638 thumbprint (SHA-256, base64url)')
  .brand<'KeyThumbprint'>();
export type KeyThumbprint = z.infer<typeof KeyThumbprint>;

/**
 * The JWT types that agents sign with their own keys. They prevent that a token is used as a proof, or that one of them
 * is used for another purpose.
 */
export const agentTokenTerms = {
  tokenType: 'countersign-agent+jwt',
  proofType: 'countersign-enrolment+jwt',
  /** Long enough for a series of calls. Short enough that a leaked token soon expires. */
  lifeSecondsMax: 300,
} as const;

/** The header contains no key, and no member that changes how the token is read. */
export const AgentTokenHeader = z.strictObject({
  alg: z.literal('EdDSA'),
  typ: z.literal(agentTokenTerms.tokenType),
  kid: KeyThumbprint,
});

/** The header of a proof of possession contains the key to enrol. */
export const EnrolmentProofHeader = z.strictObject({
  alg: z.literal('EdDSA'),
  typ: z.literal(agentTokenTerms.proofType),
  jwk: z.strictObject({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes in base64url'),
  }),
});

const Seconds = z.int().min(0);
const claims = {
  /** The public address of one kernel. A list is rejected. */
  aud: z.string(),
  sub: PrincipalId,
  tenant_id: TenantId,
  iat: Seconds,
  exp: Seconds,
};
const isShort = ({ iat, exp }: { iat: number; exp: number }) =>
  exp > iat && exp - iat <= agentTokenTerms.lifeSecondsMax;
const tooLong = { path: ['exp'], message: `must be at most ${agentTokenTerms.lifeSecondsMax} s after iat` };

/** A token may be used several times while it is valid. `jti` is accepted and ignored. */
export const AgentTokenClaims = z
  .strictObject({ ...claims, jti: z.string().max(256).optional() })
  .refine(isShort, tooLong);

export const EnrolmentProofClaims = z
  .strictObject({ ...claims, nonce: z.string().min(1).max(256) })
  .refine(isShort, tooLong);
