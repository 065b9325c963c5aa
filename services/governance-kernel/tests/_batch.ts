import type { PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import type { Caller, NamedCall } from '../src/call/governed-call.ts';
import { LedgerBatch } from '../src/ledger/batch.ts';
import type { Change } from '../src/ledger/control.ts';

const signer = createSigner(generateSigningKey().privateKeyPem);

/** A batch that has read only these rows. */
export function batchOf(...rows: Change[]): LedgerBatch {
  const view = {
    head: () => ({ lamport: 0, receiptHash: null, issuedAt: null }),
    rows: ({ control, set }: { control: unknown; set: string }) =>
      rows.filter((one) => one.control === control && one.control.setsOf(one.row).includes(set)).map(({ row }) => row),
  };
  return new LedgerBatch(view, { provider: nodeProvider, signer });
}

export const acme = 'acme' as TenantId; // plain strings instead of branded ones
export const agent = 'agent' as PrincipalId;
export const session = 'session' as SessionId;

export const callOf = (caller: Partial<Caller> = {}, more: Partial<NamedCall> = {}): NamedCall =>
  ({
    ...{ kind: 'tool', session, tool: 'files.read', resource: null, args: {}, context: {} },
    caller: { tenant: acme, principal: agent, scopes: [], ...caller },
    ...more,
  }) as NamedCall; // tests override only members of this kind of call
