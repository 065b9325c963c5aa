import { agentOf, createClient, PrincipalId, TenantId, UserId, type AssertionRole } from '@countersign/contracts';
import { kernelRoutes } from '@countersign/contracts/routes';
import { encodeBase64Url } from '@countersign/crypto';
import { generateSigningKey } from '@countersign/crypto/signing';
import { createAssertionSigner, readAssertionKey } from '@countersign/service-kit';
import type { KernelClient, TestKernel } from './_kernel.ts';

/** Ids in the gateway's format that end with a readable word of Crockford's base32 letters. */
export const workspaceCalled = (word: string) => `wsp_${word.padStart(26, '0')}`;
export const userCalled = (word: string) => `usr_${word.padStart(26, '0')}`;

/** Delivers the settings of workspaces as the gateway does. Without them the kernel denies every call there. */
export async function deliverSettings({ system }: Pick<TestKernel, 'system'>, ...tenants: string[]): Promise<void> {
  for (const tenant of tenants)
    await system.putToolBlocks({ params: { tenant: TenantId.parse(tenant) }, body: { version: 1, tools: [] } });
}

/** A gateway, which the kernel identifies by its signing key. */
export class TestGateway {
  readonly #key = generateSigningKey();
  readonly #clock: () => Date;

  /** The clock of the kernel under test. With a different `clock`, assertions may appear to come from the future. */
  constructor(clock = () => new Date()) {
    this.#clock = clock;
  }

  /** The key that the kernel pins. */
  get publicKey(): string {
    return encodeBase64Url(this.#key.publicKey);
  }

  get privateKeyPem(): string {
    return this.#key.privateKeyPem;
  }

  /** Signs a new assertion for each call. */
  assert(speaker: Speaker, at = this.#clock()): Promise<string> {
    const { tenant = workspaceCalled('ACME'), principal = agentOf(tenant), role = 'agent' } = speaker;
    const { membersVersion: members_version, sponsor } = speaker;
    const key = readAssertionKey(this.#key.privateKeyPem);
    if (key === null) throw new TypeError('the key of the test is none');
    const asserted = {
      ...{ workspace_id: TenantId.parse(tenant), sub: PrincipalId.parse(principal), role },
      ...(members_version === undefined ? {} : { members_version }),
      ...(sponsor === undefined ? {} : { sponsor: UserId.parse(sponsor) }),
    };
    return createAssertionSigner(key, () => at).sign(asserted);
  }

  client(baseUrl: string, speaker: Speaker = {}, more: Record<string, string> = {}): KernelClient {
    const headers = async () => ({ authorization: `Bearer ${await this.assert(speaker)}`, ...more });
    return createClient(kernelRoutes, { baseUrl, headers });
  }
}

export type Speaker = {
  tenant?: string;
  principal?: string;
  role?: AssertionRole;
  membersVersion?: number;
  sponsor?: string;
};
