import { createHmac, randomBytes } from 'node:crypto';
import { AppError, type PrincipalId, type TenantId } from '@countersign/contracts';
import { secretsEqual } from '@countersign/service-kit';

type Deps = {
  /** The secret of the installation, so that every replica accepts its challenges. */
  secret: string;
  clock: () => Date;
};

type Challenged = { tenant: TenantId; principal: PrincipalId };

/** Long enough to carry the challenge to the machine with the key, and the proof back. */
const challengeMs = 300_000;

/**
 * The challenge that the owner of a key signs. Nothing is stored. An HMAC protects the tenant, the agent, the time of
 * expiry and the revision of the agent's keys. Each enrolment and revocation of a key raises the revision. Only one of
 * several open challenges therefore works, and only once.
 */
export class KeyChallenges {
  readonly #clock: () => Date;
  readonly #macKey: Buffer;

  constructor({ secret, clock }: Deps) {
    this.#clock = clock;
    this.#macKey = createHmac('sha256', secret).update('countersign key challenge').digest();
  }

  create(challenged: Challenged, revision: number): { nonce: string; expiresAtMs: number } {
    const expiresAtMs = this.#clock().getTime() + challengeMs;
    const challenge = `${expiresAtMs}.${revision}.${randomBytes(16).toString('base64url')}`;
    return { nonce: `${challenge}.${this.#mac(challenged, challenge)}`, expiresAtMs };
  }

  /** The revision in a challenge. `nonce` is attacker-controlled. Throws INVALID_REQUEST or PRECONDITION_FAILED. */
  revisionOf(challenged: Challenged, nonce: string): number {
    const deps = /^((\d{1,15})\.(\d{1,10})\.[A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/.exec(nonce);
    const [, statement = '', expiresAtMs = '', revision = '', mac = ''] = deps ?? [];
    if (deps === null || !secretsEqual(mac, this.#mac(challenged, statement)))
      throw new AppError('INVALID_REQUEST', 'proof contains no challenge of this agent. Request one first', {
        param: 'proof',
      });
    if (Number(expiresAtMs) <= this.#clock().getTime()) throw staleChallenge();
    return Number(revision);
  }

  #mac({ tenant, principal }: Challenged, text: string): string {
    return createHmac('sha256', this.#macKey).update(`${tenant}\n${principal}\n${text}`).digest('base64url');
  }
}

export function staleChallenge(): AppError {
  return new AppError(
    'PRECONDITION_FAILED',
    'The challenge has expired, or the keys of the agent have changed since. Request a new one',
    {
      param: 'proof',
    },
  );
}
