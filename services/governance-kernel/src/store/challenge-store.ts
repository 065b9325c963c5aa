import type { ChallengeId, PrincipalId, TenantId } from '@countersign/contracts';
import type { Challenge, ChallengePlace, ChallengeStore } from '../controls/passkeys/challenges.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Transaction, Tx } from './database.ts';

/** Open passkey challenges, until they are answered or expire. */
export function challengeStore(transaction: Transaction): ChallengeStore {
  return {
    put: (challenge) =>
      transaction(async (tx) => {
        const { id, challenge: text, statement, expiresAtMs } = challenge;
        const input = {
          challenge_id: id,
          challenge: text,
          statement: statement as Prisma.InputJsonObject, // plain JSON
          expires_at: new Date(expiresAtMs),
        };
        const place = placeOf(challenge);
        const where = { tenant_id_principal_id_purpose_subject: place };
        await tx.passkeyChallenge.upsert({ where, create: { ...place, ...input }, update: input });
      }),
    take: (place) =>
      transaction(async (tx) => {
        const where = placeOf(place);
        const row = await tx.passkeyChallenge.findUnique({ where: { tenant_id_principal_id_purpose_subject: where } });
        if (row === null) return null;
        // If two transactions have read the challenge, only one of them deletes it and uses it.
        const { count } = await tx.passkeyChallenge.deleteMany({ where: { ...where, challenge_id: row.challenge_id } });
        if (count === 0) return null;
        return {
          ...place,
          tenant: row.tenant_id as TenantId, // equals the queried tenant
          principal: row.principal_id as PrincipalId,
          id: row.challenge_id as ChallengeId, // the kernel wrote these
          challenge: row.challenge,
          statement: row.statement as Challenge['statement'],
          expiresAtMs: row.expires_at.getTime(),
        };
      }),
  };
}

/** Removes challenges that can no longer be answered. */
export async function forgetChallenges(tx: Tx, now: Date): Promise<void> {
  await tx.passkeyChallenge.deleteMany({ where: { expires_at: { lte: now } } });
}

function placeOf({ tenant, principal, purpose, subject }: ChallengePlace) {
  return { tenant_id: tenant, principal_id: principal, purpose, subject };
}
