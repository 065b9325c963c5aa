import { randomBytes } from 'node:crypto';
import { secretsEqual } from '@countersign/service-kit';

const prefix = 'cft_';

/**
 * The credential of a run at its own kernel. It exists while the run does, in the memory of the process that executes
 * it, and opens the tenants of conformance and no other.
 */
export class RunCredential {
  #secret: string | null = null;

  /** Ends the credential of the run before. */
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
