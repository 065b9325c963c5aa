import {
  canonicalBytes,
  decodeHex,
  digestOf,
  encodeBase64,
  encodeBase64Url,
  formatCheckpoint,
  inclusionProof,
  leafHash,
  publicKeyToJwk,
  rootOf,
  signNote,
} from '@countersign/crypto';
import type { JsonValue } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner } from '@countersign/crypto/signing';

/** Private keys of RFC 8032 §7.1, TEST 1 and TEST 2: published, hence of no use but in tests. */
export const testSigner = createSigner(decodeHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'));
export const strangeSigner = createSigner(
  decodeHex('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb'),
);
export const ORIGIN = 'log.example.org/test-only';

export type Members = Record<string, JsonValue>;
export type Receipt = { payload: Members; signature: { alg: string; key_id: string; value: string } };

export function testKeys(changes: Members = {}): { keys: Members[] } {
  return {
    keys: [
      {
        ...publicKeyToJwk(testSigner.publicKey),
        kid: testSigner.keyId,
        valid_from: '2026-01-01T00:00:00.000Z',
        ...changes,
      },
    ],
  };
}

export function sign(payload: Members, signer = testSigner): Receipt {
  const value = encodeBase64Url(signer.sign(canonicalBytes(payload)));
  return { payload, signature: { alg: 'Ed25519', key_id: signer.keyId, value } };
}

export function hashOf(value: JsonValue): string {
  return digestOf(nodeProvider, canonicalBytes(value));
}

export function idOf(prefix: string, number: number): string {
  return `${prefix}_${String(number).padStart(26, '0')}`;
}

/** A chain of one session: receipts and their boundary records, as the kernel seals them. `from` numbers the ids. */
export function chainOf(
  length: number,
  { session = 'session-1', from = 1 } = {},
): { receipts: Receipt[]; records: Members[] } {
  const receipts: Receipt[] = [];
  const records: Members[] = [];
  for (let position = 1; position <= length; position += 1) {
    const record = recordOf(from + position - 1, session);
    const previous = receipts.at(-1);
    records.push(record);
    receipts.push(sign(payloadOf(record, position, previous === undefined ? null : hashOf(previous.payload))));
  }
  return { receipts, records };
}

function recordOf(number: number, session: string): Members {
  const record: Members = {
    type: 'countersign.record.v1',
    record_id: idOf('rec', number),
    kind: 'decision',
    decision_id: idOf('dec', number),
    receipt_id: idOf('rcp', number),
    tenant_id: 'acme',
    principal_id: 'agent-1',
    session_id: session,
    verdict: 'DENY',
    reason_code: 'POLICY_DENIED',
    intent: {
      action: 'tool.call',
      tool: 'mail.send',
      resource: null,
      effect_level: 'E3',
      args_hash: hashOf(['args', number]),
      intent_hash: hashOf(['intent', number]),
      facts: { 'args.to': 'someone@example.org' },
    },
    gates: [{ gate: 'rules', outcome: 'deny', reason_code: 'POLICY_DENIED' }],
    gate_roster_hash: hashOf('roster'),
    policy_hash: hashOf('policy'),
    policy_epoch: 1,
    matched_rules: ['no-mail'],
    authz_snapshot_hash: null,
    sandbox_grant_hash: null,
    tool_definition_hash: null,
    mcp_server_id: null,
    budget_ids: [],
    approval_id: null,
    shadow: [],
    created_at: `2026-02-01T00:00:${String(number % 60).padStart(2, '0')}.000Z`,
  };
  return { ...record, record_hash: hashOf(record) };
}

function payloadOf(record: Members, position: number, previousHash: string | null): Members {
  const { receipt_id, kind, tenant_id, principal_id, session_id, decision_id, record_hash, verdict, reason_code } =
    record;
  const { action, tool, resource, effect_level, args_hash } = record['intent'] as Members; // built above
  const call = { action, tool, resource, effect_level, args_hash };
  const { policy_hash, policy_epoch, created_at } = record;
  const members = {
    receipt_id,
    kind,
    tenant_id,
    principal_id,
    session_id,
    decision_id,
    record_hash,
    verdict,
    reason_code,
    ...call,
  };
  const place = { shadow: false, lamport_clock: position, prev_hash: previousHash, issued_at: created_at };
  return { type: 'countersign.receipt.v1', ...members, policy_hash, policy_epoch, ...place } as Members; // every member was set above
}

/** The export of these chains with a checkpoint over exactly their receipts and a proof for each. */
export async function exportOf(chains: { receipts: Receipt[]; records: Members[] }[]): Promise<Members> {
  const receipts = chains.flatMap((chain) => chain.receipts);
  const leaves = receipts.map(({ payload }) => leafHash(nodeProvider, decodeHex(hashOf(payload).slice(7))));
  const proofs = await Promise.all(receipts.map((receipt, index) => proofOf(receipt, index, leaves)));
  const records = chains.flatMap((chain) => chain.records);
  return {
    format: 'countersign/chain-export.v1',
    receipts,
    records,
    checkpoint: { note: noteOver(leaves) },
    proofs,
  }; // plain JSON by construction
}

export function noteOver(leaves: Uint8Array[], signer = testSigner): string {
  const text = formatCheckpoint({ origin: ORIGIN, size: leaves.length, root: rootOf(nodeProvider, leaves) });
  return signNote(nodeProvider, text, [{ name: ORIGIN, signer }]);
}

async function proofOf(receipt: Receipt, index: number, leaves: Uint8Array[]): Promise<Members> {
  const perfect = async (level: number, node: number) =>
    rootOf(nodeProvider, leaves.slice(node * 2 ** level, (node + 1) * 2 ** level));
  const hashes = await inclusionProof(nodeProvider, perfect, { index, size: leaves.length });
  return {
    receipt_id: receipt.payload['receipt_id'] ?? null,
    log_index: index,
    tree_size: leaves.length,
    hashes: hashes.map(encodeBase64),
  };
}
