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
import { gateRosterHash, intentHash } from '@countersign/receipts';

/** Private keys of RFC 8032 §7.1, TEST 1 and TEST 2: published, hence of no use but in tests. */
export const testSigner = createSigner(decodeHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'));
export const strangeSigner = createSigner(
  decodeHex('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb'),
);
export const ORIGIN = 'log.example.org/test-only';

export type Members = Record<string, JsonValue>;
/** Members to put in the place of others; undefined takes one away. */
export type Changes = Record<string, JsonValue | undefined>;
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
export function chainOf(length: number, { session = 'session-1', from = 1 } = {}): Chain {
  return chainOfRecords(Array.from({ length }, (_, index) => recordOf(from + index, { session_id: session })));
}

export type Chain = { receipts: Receipt[]; records: Members[] };

/** The chain over these records, each sealed as it is. `change` is what the key signs instead, by position from 1. */
export function chainOfRecords(records: Members[], change: Record<number, Changes> = {}): Chain {
  const receipts: Receipt[] = [];
  for (const [index, record] of records.entries()) appendTo(receipts, { ...payloadOf(record), ...change[index + 1] });
  return { receipts, records };
}

/** A decision that let a call happen, and its outcome with what the key signs instead. */
export function settledChain({ decided = {}, outcome = {} }: { decided?: Members; outcome?: Changes } = {}): Chain {
  const record = recordOf(1, { ...allowed, ...decided });
  const { receipts, records } = chainOfRecords([record]);
  appendTo(receipts, { ...outcomeOf(record), ...outcome });
  return { receipts, records };
}

/** Puts the receipt of this payload behind the last. */
export function appendTo(receipts: Receipt[], payload: Changes): void {
  const previous = receipts.at(-1);
  const prev_hash = previous === undefined ? null : hashOf(previous.payload);
  const placed = { ...payload, lamport_clock: receipts.length + 1, prev_hash };
  const members = Object.entries(placed).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  receipts.push(sign(Object.fromEntries(members)));
}

/** What the outcome of a record's decision says. */
export function outcomeOf(record: Members): Members {
  return {
    ...payloadOf(record),
    kind: 'outcome',
    receipt_id: idOf('rcp', 900),
    outcome: 'completed',
    output_hash: hashOf('output'),
    decision_receipt_id: record['receipt_id'] ?? null,
    issued_at: '2026-02-01T00:00:59.000Z',
  };
}

const allowed = {
  verdict: 'ALLOW',
  reason_code: 'ALLOWED',
  matched_rules: ['mail'],
  gates: [
    { gate: 'rules', outcome: 'pass' },
    { gate: 'budget', outcome: 'not_applicable' },
  ],
};

/** A boundary record with its hashes, which are those of the changed members unless they are changed themselves. */
export function recordOf(number: number, { intent = {}, ...changes }: Members = {}): Members {
  const args_hash = hashOf(['args', number]);
  const call = { action: 'tool.call', tool: 'mail.send', resource: null, effect_level: 'E3', args_hash };
  const record: Members = {
    type: 'countersign.record.v1',
    record_id: idOf('rec', number),
    kind: 'decision',
    decision_id: idOf('dec', number),
    receipt_id: idOf('rcp', number),
    tenant_id: 'acme',
    principal_id: 'agent-1',
    session_id: 'session-1',
    verdict: 'DENY',
    reason_code: 'POLICY_DENIED',
    gates: [{ gate: 'rules', outcome: 'deny', reason_code: 'POLICY_DENIED' }],
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
    ...changes,
  };
  const named = { tenant: 'acme', principal: 'agent-1', session: String(record['session_id']), ...call };
  const gates = (record['gates'] as { gate: never }[]).map(({ gate }) => gate); // built above, or by the test
  const hashed: Members = {
    gate_roster_hash: gateRosterHash(nodeProvider, gates),
    ...record,
    intent: {
      ...call,
      intent_hash: intentHash(nodeProvider, named as never), // args_hash is a digest, which hashOf has made
      facts: { 'args.to': 'someone@example.org' },
      ...(intent as Members), // an object in every test
    },
  };
  return { ...hashed, record_hash: hashOf(hashed) };
}

function payloadOf(record: Members): Members {
  const { receipt_id, kind, tenant_id, principal_id, session_id, decision_id, record_hash, verdict, reason_code } =
    record;
  const { action, tool, resource, effect_level, args_hash } = record['intent'] as Members; // built above
  const { policy_hash, policy_epoch, created_at, approval_id, spend_micros } = record;
  return {
    ...{ type: 'countersign.receipt.v1', receipt_id, kind, tenant_id, principal_id, session_id, decision_id },
    ...{
      record_hash,
      verdict,
      reason_code,
      action,
      tool,
      resource,
      effect_level,
      args_hash,
      policy_hash,
      policy_epoch,
    },
    ...(approval_id === null ? {} : { approval_id }),
    ...(spend_micros === undefined ? {} : { spend_micros }),
    ...{ shadow: false, issued_at: created_at },
  } as Members; // every member was set above
}

/** The export of these chains with a checkpoint over exactly their receipts and a proof for each. */
export async function exportOf(chains: Chain[]): Promise<Members> {
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
