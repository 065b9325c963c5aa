import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { createClient, type PrincipalId } from '@countersign/contracts';
import type { Identity } from '@countersign/contracts/governance-kernel';
import type { KernelClient, TestKernel } from './_kernel.ts';
import { kernelRoutes } from './_kernel.ts';

type Members = Record<string, unknown>;
/** Faults that a test puts into a token. Members that are `undefined` are left out of the token. */
export type Changes = { header?: Members; claims?: Members; key?: KeyObject; signature?: string };

/** An agent with an Ed25519 key. It signs with `node:crypto` alone, without the product's code. */
export class TestAgent {
  readonly tenant: string;
  readonly principal: PrincipalId;
  readonly key = generateKeyPairSync('ed25519');
  readonly #clock: () => Date;
  readonly #audience: string;

  constructor(test: TestKernel, { tenant = 'acme', principal }: { tenant?: string; principal: string }) {
    this.tenant = tenant;
    this.principal = principal as PrincipalId; // plain strings instead of branded ones
    const { clock, config } = test.kernel.context;
    this.#clock = clock;
    this.#audience = config.publicUrl;
  }

  get jwk(): { kty: string; crv: string; x: string } {
    const { x = '' } = this.key.publicKey.export({ format: 'jwk' });
    return { kty: 'OKP', crv: 'Ed25519', x };
  }

  get kid(): string {
    const { crv, kty, x } = this.jwk;
    return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
  }

  /** A token that is valid for one minute. */
  token(changes: Changes = {}): string {
    const header = { alg: 'EdDSA', typ: 'countersign-agent+jwt', kid: this.kid };
    return this.#signed(header, { ...this.#claims(60) }, changes);
  }

  /** Proves that this agent holds its private key. */
  proof(nonce: string, changes: Changes = {}): string {
    const header = { alg: 'EdDSA', typ: 'countersign-enrolment+jwt', jwk: this.jwk };
    return this.#signed(header, { ...this.#claims(60), nonce }, changes);
  }

  /** A client whose only credential is this agent's token. */
  client(baseUrl: string, changes: Changes = {}): KernelClient {
    return createClient(kernelRoutes, { baseUrl, headers: () => ({ authorization: `Bearer ${this.token(changes)}` }) });
  }

  async enrol(test: TestKernel): Promise<Identity> {
    const operator = test.as(this.tenant, 'operator');
    const params = { principal: this.principal };
    const body = { display_name: `The ${this.principal}` };
    await operator.putIdentity({ params: { ...params, directory: 'agents' }, body });
    const { nonce } = (await operator.createKeyChallenge({ params })).body;
    return (await operator.enrolIdentityKey({ params, body: { proof: this.proof(nonce) } })).body;
  }

  #claims(lifeSeconds: number): Members {
    const iat = Math.floor(this.#clock().getTime() / 1_000);
    return { aud: this.#audience, sub: this.principal, tenant_id: this.tenant, iat, exp: iat + lifeSeconds };
  }

  #signed(header: Members, claims: Members, changes: Changes): string {
    const encoded = (members: Members) => Buffer.from(JSON.stringify(members)).toString('base64url');
    const input = `${encoded({ ...header, ...changes.header })}.${encoded({ ...claims, ...changes.claims })}`;
    const made = () => sign(null, Buffer.from(input), changes.key ?? this.key.privateKey).toString('base64url');
    return `${input}.${changes.signature ?? made()}`;
  }
}
