import { gateOrder } from '@countersign/contracts';
import type { GateName } from '@countersign/contracts';
import {
  canonicalBytes,
  canonicalize,
  consistencyProof,
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
import type { JsonValue, NodeReader } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner } from '@countersign/crypto/signing';
import { gateRosterHash, intentHash, judgedHash } from '@countersign/receipts';

/** Private keys of RFC 8032 §7.1, TEST 1 to TEST 3. They are published, so they are used only in tests. */
export const testSigner = createSigner(decodeHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'));
export const strangeSigner = createSigner(
  decodeHex('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb'),
);
export const logSigner = createSigner(decodeHex('c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7'));
export const logOrigin = 'log.example.org/test-only';

export type Members = Record<string, JsonValue>;
/** Members that replace others. `undefined` removes one. */
export type Changes = Record<string, JsonValue | undefined>;
export type Receipt = { payload: Members; signature: { alg: string; key_id: string; value: string } };

/** The key of the receipts and the key of the log. */
export function testKeys(changes: Members = {}, logChanges: Members = {}): { keys: Members[] } {
  return {
    keys: [
      { ...jwkOf(testSigner, 'receipts'), ...changes },
      { ...jwkOf(logSigner, 'log'), ...logChanges },
    ],
  };
}

export function jwkOf(
  { publicKey, keyId }: typeof testSigner,
  purpose: 'receipts' | 'policies' | 'log' | 'evidence',
): Members {
  return {
    ...publicKeyToJwk(publicKey),
    kid: keyId,
    purpose,
    ...(purpose === 'log' ? { log_origin: logOrigin } : {}),
    valid_from: '2026-01-01T00:00:00.000Z',
  };
}

export function sign(payload: Members, signer = testSigner): Receipt {
  const value = encodeBase64Url(signer.sign(canonicalBytes(payload)));
  return { payload, signature: { alg: 'Ed25519', key_id: signer.keyId, value } };
}

export function hashOf(value: JsonValue): string {
  return digestOf(nodeProvider, canonicalBytes(value));
}

export function receiptHashOf({ payload, signature }: Receipt): string {
  return digestOf(nodeProvider, `countersign.receipt-hash.v1\n${canonicalize({ payload, signature })}`);
}

export function idOf(prefix: string, number: number): string {
  return `${prefix}_${String(number).padStart(26, '0')}`;
}

/**
 * A chain of one session: receipts and their boundary records, as the kernel seals them. `from` is the number of the
 * first id.
 */
export function chainOf(length: number, { session = 'session-1', from = 1 } = {}): Chain {
  return chainOfRecords(Array.from({ length }, (_, index) => recordOf(from + index, { session_id: session })));
}

export type Chain = { receipts: Receipt[]; records: Members[] };

/** A chain for these records, which are sealed unchanged. `change` replaces signed members, by position from 1. */
export function chainOfRecords(records: Members[], change: Record<number, Changes> = {}): Chain {
  const receipts: Receipt[] = [];
  for (const [index, record] of records.entries()) appendTo(receipts, { ...payloadOf(record), ...change[index + 1] });
  return { receipts, records };
}

/** A decision that allowed a call, and its outcome. `outcome` replaces signed members. */
export function settledChain({ decided = {}, outcome = {} }: { decided?: Members; outcome?: Changes } = {}): Chain {
  const record = recordOf(1, { ...allowed, dispatched_by: 'kernel', ...decided });
  const { receipts, records } = chainOfRecords([record]);
  appendTo(receipts, { ...outcomeOf(record), ...outcome });
  return { receipts, records };
}

/** Appends a receipt with this payload. */
export function appendTo(receipts: Receipt[], payload: Changes): void {
  const previous = receipts.at(-1);
  const prev_hash = previous === undefined ? null : receiptHashOf(previous);
  const placed = { ...payload, lamport_clock: receipts.length + 1, prev_hash };
  const members = Object.entries(placed).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  receipts.push(sign(Object.fromEntries(members)));
}

/** The outcome of the decision in this record. */
export function outcomeOf(record: Members): Members {
  return {
    ...payloadOf(record),
    kind: 'outcome',
    receipt_id: idOf('rcp', 900),
    outcome: 'completed',
    output_hash: hashOf('output'),
    decision_receipt_id: record['receipt_id'] ?? null,
    issued_at: instantOf(900),
  };
}

export const allowed = {
  verdict: 'ALLOW',
  reason_code: 'ALLOWED',
  matched_rules: ['mail'],
  gates: traceOf(),
  identity: { credential: 'access_key', credential_id: 'key', credential_state: 'active', enrolment: 'none' },
};

/**
 * The results of all gates for a call. Gates without a result in `report` pass, or do not apply. No gate is reached
 * after the first one that denies.
 */
export function traceOf(report: Partial<Record<GateName, Members>> = {}): Members[] {
  const judging: GateName[] = ['request', 'fence', 'policy', 'identity', 'rules'];
  const end = gateOrder.findIndex((gate) => report[gate]?.['outcome'] === 'deny');
  return gateOrder.map((gate, at) => {
    if (end !== -1 && at > end) return { gate, outcome: 'not_reached' };
    return { gate, outcome: judging.includes(gate) ? 'pass' : 'not_applicable', ...report[gate] };
  });
}

/** A boundary record with the hashes of its changed members. The hashes themselves can be changed too. */
export function recordOf(number: number, { intent = {}, demand = {}, ...changes }: Members = {}): Members {
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
    gates: traceOf({ rules: { outcome: 'deny', reason_code: 'POLICY_DENIED' } }),
    policy_hash: hashOf('policy'),
    policy_epoch: 1,
    matched_rules: ['no-mail'],
    authz_snapshot_hash: null,
    sandbox_grant_hash: null,
    tool_definition_hash: null,
    mcp_server_id: null,
    budgets: [],
    approval_id: null,
    shadow: [],
    created_at: instantOf(number),
    ...changes,
  };
  const [tenant, session] = [String(record['tenant_id']), String(record['session_id'])];
  const named = { tenant, principal: 'agent-1', session, ...call };
  const gates = (record['gates'] as { gate: never }[]).map(({ gate }) => gate); // built above, or by the test
  const recorded = {
    ...call,
    intent_hash: intentHash(nodeProvider, named as never), // args_hash is a digest, which hashOf has made
    facts: { 'args.to': 'someone@example.org', now: record['created_at'] ?? null },
    ...(intent as Members), // every test passes an object
  };
  const hashed: Members = {
    gate_roster_hash: gateRosterHash(nodeProvider, gates),
    ...(record['kind'] === 'decision' ? judgedMembers(recorded, demand as Members) : {}), // every test passes an object
    ...record,
    intent: recorded,
  };
  return { ...hashed, record_hash: hashOf(hashed) };
}

/** The judged members other than the intent, in the record of a decision. */
function judgedMembers(intent: Members, changes: Members): Members {
  const demand = { tool_calls: 1, spend_micros: '0', egress_bytes: 0, writes: 1, ...changes };
  return { demand, judged_hash: judgedHash(nodeProvider, { ...intent, demand } as never) }; // built above, or by the test
}

function instantOf(number: number): string {
  return new Date(Date.parse('2026-02-01T00:00:00.000Z') + number * 1000).toISOString();
}

function payloadOf(record: Members): Members {
  const { receipt_id, kind, tenant_id, principal_id, session_id, decision_id, record_hash, verdict, reason_code } =
    record;
  const { action, tool, resource, effect_level, args_hash } = record['intent'] as Members; // built above
  const { policy_hash, policy_epoch, created_at, approval_id, demand } = record;
  const { spend_micros = '0' } = (demand ?? {}) as Members; // built above
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
    ...(spend_micros === '0' || spend_micros === null ? {} : { spend_micros }),
    ...{ shadow: false, issued_at: created_at },
  } as Members; // every member was set above
}

/** The lines of an export as values, so that a test can change one of them. */
export type Line = { receipt: Receipt; record?: Members; proof?: Members };
export type Exported = { header: Members; heads: { head: Line }[]; receipts: Line[] };

export type ExportDeps = { time?: string; signer?: typeof testSigner; heads?: boolean; headKind?: string };

/** The time of the log's checkpoint: after all receipts of the fixture, before any key is revoked. */
export const seenAt = '2026-02-01T01:00:00.000Z';

/** The export of these chains, with a head statement for each, a checkpoint over all of them, and a proof for each. */
export async function exportOf(chains: Chain[], deps: ExportDeps = {}): Promise<Exported> {
  const ended = deps.heads === false ? [] : chains.map((chain, index) => headOf(chain, index, {}, deps.headKind));
  const receipts = [...chains.flatMap((chain) => chain.receipts), ...ended.map(({ receipt }) => receipt)];
  const leaves = receipts.map(leafOf);
  const records = new Map(chains.flatMap((chain) => chain.records.map((record) => [record['receipt_id'], record])));
  const lines = await Promise.all(
    receipts.map(async (receipt, index): Promise<Line> => {
      const { receipt_id, kind } = receipt.payload;
      const record = kind === 'outcome' ? undefined : records.get(receipt_id ?? null);
      return { receipt, ...(record === undefined ? {} : { record }), proof: await proofOf(index, leaves) };
    }),
  );
  const split = receipts.length - ended.length;
  return {
    header: { format: 'countersign/chain-export.v2', checkpoints: [noteOver(leaves, deps)], consistency: [] },
    heads: ended.map(({ record }, index) => ({ head: { ...lineAt(lines, split + index), record } })),
    receipts: lines.slice(0, split),
  };
}

/** The lines of an export file. */
export function linesOf({ header, heads, receipts }: Exported): string[] {
  return [header, ...heads, ...receipts].map((line) => JSON.stringify(line));
}

/** The statement that the kernel seals at the end of an exported session. `index` numbers the ids. */
export function headOf(
  chain: Chain,
  index = 0,
  changes: Members = {},
  kind = 'head',
): { receipt: Receipt; record: Members } {
  const last = chain.receipts.at(-1);
  if (last === undefined) throw new Error('a chain has receipts');
  const { session_id, lamport_clock } = last.payload;
  const facts = {
    session_id,
    lamport_clock,
    receipt_hash: receiptHashOf(last),
    as_of: instantOf(1200),
    ...changes,
  } as Members;
  const record = recordOf(800 + index, {
    kind,
    session_id: 'heads',
    ...{ verdict: 'ALLOW', reason_code: 'ALLOWED', gates: [], matched_rules: [], created_at: instantOf(1200 + index) },
    intent: { facts },
  });
  const receipt = sign({ ...payloadOf(record), lamport_clock: 1, prev_hash: null });
  return { receipt, record };
}

export function leafOf(receipt: Receipt): Uint8Array {
  return leafHash(nodeProvider, decodeHex(receiptHashOf(receipt).slice(7)));
}

export function noteOver(leaves: Uint8Array[], { time = seenAt, signer = logSigner }: ExportDeps = {}): string {
  const text = formatCheckpoint({ origin: logOrigin, size: leaves.length, root: rootOf(nodeProvider, leaves), time });
  return signNote(nodeProvider, text, [{ name: logOrigin, signer }]);
}

export async function proofOf(index: number, leaves: Uint8Array[]): Promise<Members> {
  const hashes = await inclusionProof(nodeProvider, readerOf(leaves), { index, size: leaves.length });
  return { log_index: index, tree_size: leaves.length, hashes: hashes.map(encodeBase64) };
}

/** Proof that the tree of all these leaves extends the tree of the first `from` leaves. */
export async function consistencyOf(leaves: Uint8Array[], from: number): Promise<string[]> {
  const sizes = { from, to: leaves.length };
  return (await consistencyProof(nodeProvider, readerOf(leaves), sizes)).map(encodeBase64);
}

function readerOf(leaves: Uint8Array[]): NodeReader {
  return async (level, node) => rootOf(nodeProvider, leaves.slice(node * 2 ** level, (node + 1) * 2 ** level));
}

function lineAt(lines: Line[], index: number): Line {
  const line = lines[index];
  if (line === undefined) throw new Error('there is no such line');
  return line;
}
