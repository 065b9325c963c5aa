import type { ApprovalId, PrincipalId } from '@countersign/contracts';
import {
  type Approval,
  type ApprovalDecision,
  type CredentialId,
  type Passkey,
} from '@countersign/contracts/governance-kernel';
import { createKernelClient } from '@countersign/contracts/routes';
import { Authenticator, type Forgery } from '@countersign/testkit/authenticator';
import { adminKey, type KernelClient } from './_kernel.ts';

export const origin = 'https://kernel.example';

/** Operator clients of the kernel at `baseUrl`. */
export function kernelAt(baseUrl: string) {
  const client = createKernelClient({ baseUrl, apiKey: adminKey });
  const as = (tenant: string, principal?: string) => client.as({ tenant, ...(principal ? { principal } : {}) });
  return { as, kernel: { url: baseUrl } };
}

/** A person with an authenticator and a client of one kernel. */
export class Approver {
  readonly authenticator = new Authenticator(origin);
  readonly client: KernelClient;
  readonly principal: PrincipalId;

  constructor(test: { as(tenant: string, principal?: string): KernelClient }, principal: string, tenant = 'acme') {
    this.client = test.as(tenant, principal);
    this.principal = principal as PrincipalId; // plain strings instead of branded ones
  }

  get id(): CredentialId {
    return this.authenticator.id as CredentialId; // the id is base64url, as the schema requires
  }

  get place() {
    return { principal: this.principal, credential_id: this.id };
  }

  async enrol(forged: Forgery = {}, { by = this.client } = {}): Promise<Passkey> {
    const params = { principal: this.principal };
    const { body } = await by.registerPasskey({ params });
    const attestation = this.authenticator.create(body.challenge, forged);
    return (await by.verifyPasskey({ params, body: { attestation } })).body;
  }

  async vouchFor(second: Pick<Approver, 'place'>, forged: Forgery = {}): Promise<Passkey> {
    const params = second.place;
    const { body } = await this.client.challengeVoucher({ params });
    const assertion = this.authenticator.get(body.challenge, forged);
    return (await this.client.vouchForPasskey({ params, body: { assertion } })).body;
  }

  async challenge(id: ApprovalId, decision: ApprovalDecision = 'approve', reason?: string) {
    const body = { decision, ...(reason === undefined ? {} : { reason }) } as never; // the schema fills in the defaults
    return (await this.client.challengeApproval({ params: { approval_id: id }, body })).body;
  }

  async decide(id: ApprovalId, decision: ApprovalDecision = 'approve', reason?: string): Promise<Approval> {
    const { challenge, challenge_id } = await this.challenge(id, decision, reason);
    const assertion = this.authenticator.get(challenge);
    return (await this.client.assertApproval({ params: { approval_id: id }, body: { challenge_id, assertion } })).body;
  }
}
