import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Digest, Instant, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { canonicalize, leafHash, type JsonValue } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import {
  announcementStatement,
  argsHash,
  decisionStatement,
  gateRosterHash,
  intentHash,
  judgedHash,
  outcomeStatement,
  outputHash,
  payloadOf,
  payloadText,
  receiptLeaf,
  recordedFacts,
  sealRecord,
  ulidOf,
  type Statement,
} from '../src/index.ts';

const sha256 = (...inputs: (string | Uint8Array)[]) => {
  const hash = createHash('sha256');
  for (const input of inputs) hash.update(input);
  return `sha256:${hash.digest('hex')}` as Digest; // exactly this format
};

const ulid = '01JD8KQZ4M8Y6X3W2V1T0S9R8Q';
const caller = {
  tenant: 'acme' as TenantId,
  principal: 'agent "7"' as PrincipalId,
  session: 's-1' as SessionId, // all match their schemas
};
const at = '2026-11-21T10:00:00.000Z' as Instant; // matches its schema
const named = { action: 'tool.call', tool: 'pay.send', resource: null, args_hash: sha256('args') };
const intent = {
  ...named,
  effect_level: 'E3' as const,
  intent_hash: intentHash(nodeProvider, { ...caller, ...named }),
};

const demand = { tool_calls: 1, spend_micros: '0', egress_bytes: 2, writes: 3 };

const decided = decisionStatement({
  ...caller,
  ...{ ulid, at, intent, read: { facts: { 'args.amount': 5 } }, shadow: [], isShadow: false, dispatched_by: 'kernel' },
  ...{ verdict: 'ALLOW', reason_code: 'ALLOWED', matched_rules: ['small'], budgets: [], approval_id: null },
  ...{ demand, judged_hash: judgedHash(nodeProvider, { ...intent, facts: { 'args.amount': 5 }, demand }) },
  ...{ gates: [{ gate: 'rules', outcome: 'pass' }], gate_roster_hash: gateRosterHash(nodeProvider, ['rules']) },
  ...{ policy_hash: sha256('policy'), policy_epoch: 3, mcp_server_id: null, tool_definition_hash: null },
  sandbox_grant_hash: null,
  authz_snapshot_hash: sha256('relations'),
});

const announced = announcementStatement(nodeProvider, {
  ...caller,
  ...{ ulid, at, kind: 'approval', action: 'approval.approve', tool: 'pay.send', resource: null, effectLevel: 'E3' },
  ...{ verdict: 'ALLOW', reasonCode: 'ALLOWED', argsHash: named.args_hash, policyHash: null, policyEpoch: 0 },
  approvalId: `apr_${ulid}` as never, // matches its schema
});

function payload({ receipt, record }: Statement): ReceiptPayload {
  const hash = 'hash' in record ? record.hash : sealRecord(nodeProvider, record).hash;
  return payloadOf(receipt, hash, { lamportClock: 1, prevHash: null });
}

describe('hashes', () => {
  it('of arguments and outputs are salted', () => {
    const salt = Uint8Array.of(1, 2, 3);
    expect(argsHash(nodeProvider, salt, { b: 1, a: 'é' })).toBe(sha256(salt, '{"a":"é","b":1}'));
    expect(outputHash(nodeProvider, salt, 'plain text')).toBe(sha256(salt, 'plain text'));
    expect(outputHash(nodeProvider, salt, { b: 1, a: 2 })).toBe(sha256(salt, '{"a":2,"b":1}'));
  });

  it('of an intent cover principal, call and arguments, but not the declared effect', () => {
    const text =
      `{"action":"tool.call","args_hash":"${named.args_hash}","principal":"agent \\"7\\"","resource":null,` +
      `"session":"s-1","tenant":"acme","tool":"pay.send"}`;
    expect(intentHash(nodeProvider, { ...caller, ...named })).toBe(sha256(text));
  });

  it('of a judged call cover intent, effect, demand and facts, but not the time', () => {
    const priced = { ...demand, spend_micros: '7' };
    const judged = { ...intent, demand: priced, facts: { now: at, 'context.channel': 'chat', 'args.amount': 5 } };
    const text =
      `{"demand":{"egress_bytes":2,"spend_micros":"7","tool_calls":1,"writes":3},"effect_level":"E3",` +
      `"facts":{"args.amount":5,"context.channel":"chat"},"intent_hash":"${intent.intent_hash}"}`;
    expect(judgedHash(nodeProvider, judged)).toBe(sha256(text));
    const unpriced = { ...judged, demand: { ...demand, spend_micros: null } };
    expect(judgedHash(nodeProvider, unpriced)).toBe(sha256(text.replace('"7"', 'null')));
  });

  it('of a judged call cover facts that are stored as a hash', () => {
    const salt = Uint8Array.of(1, 2, 3);
    const long = 'é'.repeat(2048);
    const read = recordedFacts(nodeProvider, salt, { 'args.small': 1, 'args.text': long });
    const hash = sha256(salt, `"${long}"`);
    expect(read).toEqual({ facts: { 'args.small': 1 }, capped_facts: { 'args.text': { hash, bytes: 4098 } } });
    const text =
      `{"capped_facts":{"args.text":{"bytes":4098,"hash":"${hash}"}},` +
      `"demand":{"egress_bytes":2,"spend_micros":"0","tool_calls":1,"writes":3},"effect_level":"E3",` +
      `"facts":{"args.small":1},"intent_hash":"${intent.intent_hash}"}`;
    expect(judgedHash(nodeProvider, { ...intent, demand, ...read })).toBe(sha256(text));
  });

  it.each<[string, JsonValue, JsonValue]>([
    ['a text', 'x'.repeat(4094), 'x'.repeat(4095)],
    ['a text of three-byte characters', '☃'.repeat(1364), '☃'.repeat(1365)],
    ['a text of escaped characters', '\u0001'.repeat(682), '\u0001'.repeat(683)],
    ['a list', [1, 'x'.repeat(4090)], [1, 'x'.repeat(4091)]],
    ['an object', { a: 'x'.repeat(4088) }, { a: 'x'.repeat(4089) }],
  ])('of %s replace it when its canonical JSON has more than 4096 bytes', (_what, fits, larger) => {
    const read = recordedFacts(nodeProvider, Uint8Array.of(1), { fits, larger }); // plain JSON
    expect(Object.keys(read.facts)).toEqual(['fits']);
    expect(read.capped_facts).toMatchObject({ larger: { bytes: Buffer.byteLength(canonicalize(larger)) } });
  });

  it('of a gate roster cover the names in order, or no names for an announcement', () => {
    expect(gateRosterHash(nodeProvider, ['request', 'fence'])).toBe(sha256('["request","fence"]'));
    expect(announced.record).toMatchObject({ gates: [], gate_roster_hash: sha256('[]') });
  });

  it('of a leaf cover the 32 bytes of the receipt hash', () => {
    const bytes = createHash('sha256').update('receipt').digest();
    expect(receiptLeaf(nodeProvider, sha256('receipt'))).toEqual(leafHash(nodeProvider, bytes));
  });
});

describe('a statement', () => {
  it.each([
    ['decision', decided],
    ['announcement', announced],
  ])('of a %s matches its schema, and its ids share a ULID', (_kind, statement) => {
    const record = statement.record as BoundaryRecord; // both statements have a record and not a hash
    const { text, hash } = sealRecord(nodeProvider, record);
    expect(BoundaryRecord.parse(JSON.parse(text)).record_hash).toBe(hash);
    expect(ReceiptPayload.parse(payload(statement)).record_hash).toBe(hash);
    const { receipt_id, record_id, decision_id } = record;
    expect([receipt_id, record_id, decision_id].map(ulidOf)).toEqual([ulid, ulid, ulid]);
  });

  it('of an announcement has the intent hash that the same call has', () => {
    const {
      action,
      tool,
      resource,
      argsHash: args_hash,
    } = { ...named, action: 'approval.approve', argsHash: named.args_hash };
    expect(announced.record).toMatchObject({
      intent: { intent_hash: intentHash(nodeProvider, { ...caller, action, tool, resource, args_hash }) },
    });
  });

  it('has an approval id only if there is an approval', () => {
    expect(payload(decided)).not.toHaveProperty('approval_id');
    expect(payload(announced)).toHaveProperty('approval_id', `apr_${ulid}`);
  });

  it('of an outcome repeats its decision, names the receipt that it settles, and refers to the same record', () => {
    const decision = { ...payload(decided), approval_id: `apr_${ulid}` as never };
    const ending = { ulid: ulid.replace('01', '02'), at, outcome: 'completed' as const };
    const statement = outcomeStatement(decision, { ...ending, output_hash: sha256('output'), spend_micros: undefined });
    expect(statement.record).toEqual({ hash: decision.record_hash });
    expect(ReceiptPayload.parse(payload(statement))).toEqual({
      ...decision,
      ...{ kind: 'outcome', outcome: 'completed', output_hash: sha256('output') },
      ...{ receipt_id: `rcp_${ending.ulid}`, decision_receipt_id: decision.receipt_id },
    });
    const unknown = payload(
      outcomeStatement(decision, { ...ending, outcome: 'uncertain', output_hash: undefined, spend_micros: undefined }),
    );
    expect(unknown).not.toHaveProperty('output_hash');
    expect(payloadText(unknown)).not.toBe(payloadText(payload(statement)));
  });
});

describe('a name that callers or models choose', () => {
  const members = ['tenant_id', 'principal_id', 'session_id', 'action', 'tool', 'resource'] as const;
  const edges = ['', ' ', 'a', 'a ', ' a', 'a.b', 'a\nb', 'a\u0000', 'a/b', 'a\\b', '\u2028/', 'a\u007f', '名'];
  const unseen = [
    '\u0085',
    '\u009b',
    '\u2028',
    '\u2029',
    '\u2800',
    '\ufff9',
    '\ue000',
    '\ufdd0',
    '\u{1fffe}',
    '\ud800',
    '\u200d',
  ];
  const long = [128, 129, 256, 257, 2048, 2049].flatMap((length) => [
    'x'.repeat(length),
    `a.${'x'.repeat(length - 2)}`,
    '😀'.repeat(length / 2),
  ]);
  const names = fc.oneof(fc.constantFrom(...edges, ...long), fc.string({ unit: 'binary' }), fc.string());

  it.each(members)('is refused as %s if and only if the schema of receipts refuses it', (member) => {
    const isReadable = (name: string) => {
      try {
        payload({ ...decided, receipt: { ...decided.receipt, [member]: name } });
        return true;
      } catch {
        return false;
      }
    };
    const check = (name: string) =>
      expect([name, isReadable(name)]).toEqual([name, ReceiptPayload.shape[member].safeParse(name).success]);
    [...edges, ...unseen, ...unseen.map((character) => `a${character}b`), ...long].forEach(check);
    fc.assert(fc.property(names, check), { numRuns: 300 });
  });
});
