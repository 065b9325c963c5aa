import { createHmac, randomBytes } from 'node:crypto';
import { AppError, type PrincipalId, type TenantId } from '@countersign/contracts';
import { secretsEqual } from '@countersign/service-kit';

type Parts = {
  /** The secret of the installation: every replica accepts its challenges. */
  secret: string;
  clock: () => Date;
};

type Challenged = { tenant: TenantId; principal: PrincipalId };

/** Long enough to carry a key to where it is enrolled. */
const challengeMs = 300_000;

/**
 * The challenge that the owner of a key signs. Nothing is stored: a challenge names its tenant, agent, end and the
 * revision of that agent's keys under our HMAC. Enrolling moves the revision, so a challenge serves once, and no two of
 * them serve at the same time.
 */
export class KeyChallenges {
  readonly #clock: () => Date;
  readonly #macKey: Buffer;

  constructor({ secret, clock }: Parts) {
    this.#clock = clock;
    this.#macKey = createHmac('sha256', secret).update('countersign key challenge').digest();
  }

  create(challenged: Challenged, revision: number): { nonce: string; expiresAtMs: number } {
    const expiresAtMs = this.#clock().getTime() + challengeMs;
    const said = `${expiresAtMs}.${revision}.${randomBytes(16).toString('base64url')}`;
    return { nonce: `${said}.${this.#mac(challenged, said)}`, expiresAtMs };
  }

  /** The revision that a challenge is for. `nonce` is attacker-controlled. Throws INVALID_REQUEST or PRECONDITION_FAILED. */
  revisionOf(challenged: Challenged, nonce: string): number {
    const parts = /^((\d{1,15})\.(\d{1,10})\.[A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/.exec(nonce);
    const [, said = '', expiresAtMs = '', revision = '', mac = ''] = parts ?? [];
    if (parts === null || !secretsEqual(mac, this.#mac(challenged, said)))
      throw new AppError('INVALID_REQUEST', 'The proof is over no challenge of this agent', { param: 'proof' });
    if (Number(expiresAtMs) <= this.#clock().getTime()) throw staleChallenge();
    return Number(revision);
  }

  #mac({ tenant, principal }: Challenged, said: string): string {
    return createHmac('sha256', this.#macKey).update(`${tenant}\n${principal}\n${said}`).digest('base64url');
  }
}

export function staleChallenge(): AppError {
  return new AppError('PRECONDITION_FAILED', 'The challenge has ended or was used; ask for another', {
    param: 'proof',
  });
}
