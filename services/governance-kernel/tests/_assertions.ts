import { agentOf, createClient, PrincipalId, TenantId, type AssertionRole } from '@countersign/contracts';
import { kernelRoutes } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url } from '@countersign/crypto';
import { generateSigningKey } from '@countersign/crypto/signing';
import { createAssertionSigner, readAssertionKey } from '@countersign/service-kit';
import type { KernelClient } from './_kernel.ts';

/** Ids as the gateway gives them, to be told apart by a word of Crockford's letters. */
export const workspaceCalled = (word: string) => `wsp_${word.padStart(26, '0')}`;
export const userCalled = (word: string) => `usr_${word.padStart(26, '0')}`;

/** A gateway as the kernel knows it: by the key that it signs with. */
export class TestGateway {
  readonly #key = generateSigningKey();
  readonly #clock: () => Date;

  /** `clock`: that of the kernel under test, or a slow machine has its assertions come from the future. */
  constructor(clock = () => new Date()) {
    this.#clock = clock;
  }

  /** What the kernel pins. */
  get publicKey(): string {
    return encodeBase64Url(this.#key.publicKey);
  }

  get privateKeyPem(): string {
    return this.#key.privateKeyPem;
  }

  /** A new assertion each time, as if none was kept. */
  assert(speaker: Speaker, at = this.#clock()): Promise<string> {
    const { tenant = workspaceCalled('ACME'), principal = agentOf(tenant), role = 'agent' } = speaker;
    const key = readAssertionKey(this.#key.privateKeyPem);
    if (key === null) throw new TypeError('the key of the test is none');
    const asserted = { workspace_id: TenantId.parse(tenant), sub: PrincipalId.parse(principal), role };
    return createAssertionSigner(key, () => at).sign(asserted);
  }

  client(baseUrl: string, speaker: Speaker = {}, more: Record<string, string> = {}): KernelClient {
    const headers = async () => ({ authorization: `Bearer ${await this.assert(speaker)}`, ...more });
    return createClient(kernelRoutes, { baseUrl, headers });
  }
}

export type Speaker = { tenant?: string; principal?: string; role?: AssertionRole };
