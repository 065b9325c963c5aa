import { randomBytes } from 'node:crypto';
import { AppError, type ChallengeId, type PlainJson, type PrincipalId, type TenantId } from '@countersign/contracts';
import { canonicalBytes, encodeBase64Url, parsePlainJson, type CryptoProvider } from '@countersign/crypto';

/**
 * The statement that a person is asked to sign. One question of a kind for each subject: a new one takes the place of
 * the last.
 */
export type ChallengePlace = {
  readonly tenant: TenantId;
  /** The owner of the passkey that is to sign, or is to be enrolled. */
  readonly principal: PrincipalId;
  readonly purpose: 'enrolment' | 'voucher' | 'approval';
  readonly subject: string;
};

export type Challenge = ChallengePlace & {
  readonly id: ChallengeId;
  /** base64url. */
  readonly challenge: string;
  /** The statement behind it; empty when it is random. */
  readonly statement: Readonly<Record<string, PlainJson>>;
  readonly expiresAtMs: number;
};

export type ChallengeStore = {
  put(challenge: Challenge): Promise<void>;
  /** Takes it away, for one caller among all replicas. */
  take(place: ChallengePlace): Promise<Challenge | null>;
};

export const challengeMs = 300_000;
const nonceBytes = 32;

export function newNonce(): string {
  return encodeBase64Url(randomBytes(nonceBytes));
}

/** The challenge behind which a statement stands: SHA-256 of its canonical JSON, which holds the nonce. */
export function challengeOf(provider: CryptoProvider, statement: Record<string, PlainJson>): string {
  return encodeBase64Url(provider.sha256(canonicalBytes(parsePlainJson(statement))));
}

/** Whatever becomes of the answer, the question is gone. Throws PASSKEY_REFUSED where there is none, or another. */
export async function takeChallenge(
  { challenges, clock }: { challenges: ChallengeStore; clock: () => Date },
  place: ChallengePlace,
  id?: ChallengeId,
): Promise<Challenge> {
  const taken = await challenges.take(place);
  if (taken !== null && (id === undefined || taken.id === id) && clock().getTime() < taken.expiresAtMs) return taken;
  throw new AppError('PASSKEY_REFUSED', 'This challenge was answered, has run out, or was never given');
}
