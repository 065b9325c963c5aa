import { randomBytes } from 'node:crypto';
import { secretsEqual } from '@countersign/service-kit';

const prefix = 'cft_';

/**
 * The credential of a run at its own kernel. It exists only during the run, in the memory of the executing process, and
 * grants access only to the conformance tenants.
 */
export class RunCredential {
  #secret: string | null = null;

  /** Issues a new credential, which ends the previous one. */
  issue(): string {
    const secret = prefix + randomBytes(32).toString('base64url');
    this.#secret = secret;
    return secret;
  }

  end(): void {
    this.#secret = null;
  }

  isPresented(bearer: string): boolean {
    return this.#secret !== null && bearer.startsWith(prefix) && secretsEqual(bearer, this.#secret);
  }
}
