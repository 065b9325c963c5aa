import { randomBytes } from 'node:crypto';
import { AppError, type ChallengeId, type PlainJson, type PrincipalId, type TenantId } from '@countersign/contracts';
import { canonicalBytes, encodeBase64Url, parsePlainJson, type CryptoProvider } from '@countersign/crypto';

/** The key of a challenge. Each key has at most one open challenge, and a new one replaces it. */
export type ChallengePlace = {
  readonly tenant: TenantId;
  /** The owner of the passkey that signs or is enrolled. */
  readonly principal: PrincipalId;
  readonly purpose: 'enrolment' | 'voucher' | 'approval';
  readonly subject: string;
};

export type Challenge = ChallengePlace & {
  readonly id: ChallengeId;
  /** base64url. */
  readonly challenge: string;
  /** The statement that the challenge covers. Empty for a random challenge. */
  readonly statement: Readonly<Record<string, PlainJson>>;
  readonly expiresAtMs: number;
};

export type ChallengeStore = {
  put(challenge: Challenge): Promise<void>;
  /** Removes the challenge. Only one caller among all replicas gets it. */
  take(place: ChallengePlace): Promise<Challenge | null>;
};

export const challengeMs = 300_000;
const nonceBytes = 32;

export function newNonce(): string {
  return encodeBase64Url(randomBytes(nonceBytes));
}

/** The challenge for a statement: SHA-256 of its canonical JSON, which contains the nonce. */
export function challengeOf(provider: CryptoProvider, statement: Record<string, PlainJson>): string {
  return encodeBase64Url(provider.sha256(canonicalBytes(parsePlainJson(statement))));
}

/**
 * Returns the open challenge, and removes it in any case. Throws PASSKEY_REFUSED when it is missing, expired, or has a
 * different ID.
 */
export async function takeChallenge(
  { challenges, clock }: { challenges: ChallengeStore; clock: () => Date },
  place: ChallengePlace,
  id?: ChallengeId,
): Promise<Challenge> {
  const taken = await challenges.take(place);
  if (taken !== null && (id === undefined || taken.id === id) && clock().getTime() < taken.expiresAtMs) return taken;
  throw new AppError(
    'PASSKEY_REFUSED',
    'This challenge was already answered, has expired, or was never issued. Request a new one',
  );
}
