import { z } from 'zod';
import { PrincipalId, TenantId } from '../scalars.ts';

/** RFC 7638 thumbprint of an Ed25519 public key: SHA-256 in base64url. */
export const KeyThumbprint = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}$/, 'must be an RFC 7638 thumbprint (SHA-256, base64url)')
  .brand<'KeyThumbprint'>();
export type KeyThumbprint = z.infer<typeof KeyThumbprint>;

/**
 * The JWT types that agents sign with keys of their own. The types keep a token from being taken for a proof, and
 * either for anything else.
 */
export const agentTokenTerms = {
  tokenType: 'countersign-agent+jwt',
  proofType: 'countersign-enrolment+jwt',
  /** Long enough for a run of calls, short enough that a token which leaked in a log is soon worth nothing. */
  lifeSecondsMax: 300,
} as const;

/** Nothing in a header may bring a key, or ask to be read in another way. */
export const AgentTokenHeader = z.strictObject({
  alg: z.literal('EdDSA'),
  typ: z.literal(agentTokenTerms.tokenType),
  kid: KeyThumbprint,
});

/** The header of a proof of possession brings the key that is to be enrolled. */
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
  /** The public address of one kernel: a list is refused. */
  aud: z.string(),
  sub: PrincipalId,
  tenant_id: TenantId,
  iat: Seconds,
  exp: Seconds,
};
const isShort = ({ iat, exp }: { iat: number; exp: number }) =>
  exp > iat && exp - iat <= agentTokenTerms.lifeSecondsMax;
const tooLong = { path: ['exp'], message: `must be at most ${agentTokenTerms.lifeSecondsMax} s after iat` };

/** Within its life a token may be used again: `jti` is taken and means nothing. */
export const AgentTokenClaims = z
  .strictObject({ ...claims, jti: z.string().max(256).optional() })
  .refine(isShort, tooLong);

export const EnrolmentProofClaims = z
  .strictObject({ ...claims, nonce: z.string().min(1).max(256) })
  .refine(isShort, tooLong);
