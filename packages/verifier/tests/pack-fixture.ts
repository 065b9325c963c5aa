import { canonicalize, decodeHex, encodeBase64Url, encodeHex, rootOf, utf8Bytes } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner } from '@countersign/crypto/signing';
import { activationBytes, intentHash, PackTally } from '@countersign/receipts';
import {
  allowed,
  appendTo,
  chainOfRecords,
  consistencyOf,
  hashOf,
  jwkOf,
  leafOf,
  logOrigin,
  noteOver,
  proofOf,
  receiptHashOf,
  recordOf,
  seenAt,
  testKeys,
} from './chain-fixture.ts';
import type { Changes, Members, Receipt } from './chain-fixture.ts';

const policySigner = createSigner(decodeHex('833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42'));
const format = 'countersign/evidence-pack.v1';

/** `change` replaces signed members. The log has an omitted receipt, and the pack does not show it. */
export type PackItem = { record: Members; change?: Changes; isOmitted?: boolean } | { policy: Members };
type PackOptions = { scope?: Members; checkpoints?: { size: number; time: string }[] };
type Activation = { tenant?: string; epoch?: number; confirmedAt?: string; policy?: Members };

export const bundle = {
  format: 'countersign/policy.v1',
  ...{ name: 'mail', version: '1', tests: [], rules: [{ id: 'mail', effect: 'allow', match: {} }] },
};

/** The keys of receipts, of the log and of policies. */
export function packKeys(policyChanges: Members = {}): { keys: Members[] } {
  return { keys: [...testKeys().keys, { ...jwkOf(policySigner, 'policies'), ...policyChanges }] };
}

/** An instant in the hour of the fixture, such as `00:00:10`. */
export function at(time: string): string {
  return `2026-02-01T${time}.000Z`;
}

/** The line of a policy. */
export function policyLine({ policy = bundle, ...named }: Activation = {}): PackItem {
  const { tenant = 'acme', epoch = 1, confirmedAt = at('00:00:00') } = named;
  const signature = activationSignature({ tenant, epoch, confirmedAt, policy });
  const activated = { tenant_id: tenant, epoch, policy_hash: hashOf(policy), confirmed_at: confirmedAt };
  return { policy: { ...activated, signature, bundle: policy } };
}

/** The receipt that activates the policy for acme. */
export function activation(number: number, { policy = bundle, ...named }: Activation = {}): PackItem {
  const { epoch = 1, confirmedAt = at('00:00:00') } = named;
  const call = { action: 'policy.change', resource: 'policy:acme' };
  const signature = activationSignature({ tenant: 'acme', epoch, confirmedAt, policy });
  const facts = { confirmed_at: confirmedAt, signature };
  const sealed = { kind: 'policy', session_id: 'policy', policy_hash: hashOf(policy), policy_epoch: epoch };
  return { record: statementOf(number, { ...sealed, intent: { ...call, facts } }) };
}

/** A call that the policy allows. */
export function decision(number: number, time: string, changes: Members = {}): { record: Members } {
  const named = { matched_rules: ['mail'], policy_hash: hashOf(bundle), dispatched_by: 'caller' };
  const session_id = String(changes['session_id'] ?? 'session-1');
  const call = callOf(number, { session_id, action: 'tool.call', tool: 'mail.send', resource: null });
  return { record: recordOf(number, { ...allowed, ...named, created_at: at(time), ...changes, intent: call }) };
}

function statementOf(number: number, { intent = {}, ...changes }: Members): Members {
  const announced = {
    verdict: 'ALLOW',
    reason_code: 'ALLOWED',
    gates: [],
    matched_rules: [],
    created_at: at('00:00:00'),
  };
  const call = callOf(number, { session_id: changes['session_id'] ?? null, tool: null, ...(intent as Members) }); // every caller passes an object
  return recordOf(number, { ...announced, ...changes, intent: { ...call, ...(intent as Members) } }); // every caller passes an object
}

function callOf(number: number, { session_id = null, action = null, tool = null, resource = null }: Members): Members {
  const call = { action, tool, resource, args_hash: hashOf(['args', number]) };
  const named = { tenant: 'acme', principal: 'agent-1', session: session_id, ...call };
  return { ...call, intent_hash: intentHash(nodeProvider, named as never) }; // args_hash is a digest, which hashOf has made
}

function activationSignature({ tenant, epoch, confirmedAt, policy }: Required<Activation>): Members {
  const statement = { tenant, epoch, confirmedAt, policyHash: hashOf(policy) } as never; // plain names
  const value = encodeBase64Url(policySigner.sign(activationBytes(statement)));
  return { alg: 'Ed25519', key_id: policySigner.keyId, value };
}

type Line = { receipt: Receipt; record: Members; place: number } | { policy: Members };

/** The lines of a pack with these items in the order of the log, and with its end statement. */
export async function packOf(items: PackItem[], { scope = {}, checkpoints = [] }: PackOptions = {}): Promise<string[]> {
  const { lines, leaves } = placed(items);
  const shown = [...checkpoints, { size: leaves.length, time: seenAt }];
  const links = shown
    .slice(1)
    .map(({ size }, before) => consistencyOf(leaves.slice(0, size), shown[before]?.size ?? 0));
  const range = { tenant_id: 'acme', leaves: { from: 0, to: leaves.length }, sessions: null, issued: null, ...scope };
  const notes = shown.map(({ size, time }) => noteOver(leaves.slice(0, size), { time }));
  const header = { checkpoints: notes, consistency: await Promise.all(links), format, keys: [], log_origin: logOrigin };
  const tally = new PackTally(nodeProvider);
  const texts = [canonicalize({ ...header, scope: range })];
  for (const line of lines) {
    if ('policy' in line) {
      tally.addPolicy();
      texts.push(canonicalize(line));
      continue;
    }
    const { receipt, record, place } = line;
    const counted = { payload: receipt.payload, receiptHash: receiptHashOf(receipt), record };
    tally.addReceipt(counted as never); // the fixture makes payloads and records of the schema
    texts.push(canonicalize({ proof: await proofOf(place, leaves), receipt, record }));
  }
  for (const text of texts) tally.addLine(utf8Bytes(text));
  const log_root = `sha256:${encodeHex(rootOf(nodeProvider, leaves))}`;
  const facts = { format, scope: range, ...tally.counts(), log_size: leaves.length, log_root };
  return [...texts, await endLine(facts, leaves)];
}

/** The receipts with their places, and the leaves of the log. Each session is a chain. */
function placed(items: PackItem[]): { lines: Line[]; leaves: Uint8Array[] } {
  const chains = new Map<unknown, Receipt[]>();
  const [lines, leaves]: [Line[], Uint8Array[]] = [[], []];
  for (const item of items) {
    if ('policy' in item) {
      lines.push(item);
      continue;
    }
    const { record, change = {}, isOmitted = false } = item;
    const chain = chains.get(record['session_id']) ?? [];
    chains.set(record['session_id'], chain);
    const receipt = appended(chain, { ...payloadFor(record), ...change });
    if (!isOmitted) lines.push({ receipt, record, place: leaves.length });
    leaves.push(leafOf(receipt));
  }
  return { lines, leaves };
}

function appended(chain: Receipt[], payload: Changes): Receipt {
  appendTo(chain, payload);
  const last = chain.at(-1);
  if (last === undefined) throw new Error('the chain has the receipt that was appended');
  return last;
}

function payloadFor(record: Members): Members {
  const [receipt] = chainOfRecords([record]).receipts;
  if (receipt === undefined) throw new Error('a chain has a receipt for each record');
  return receipt.payload;
}

async function endLine(facts: Members, leaves: Uint8Array[]): Promise<string> {
  const { log_size: size } = facts;
  const named = { kind: 'period', session_id: 'heads', created_at: seenAt };
  const record = statementOf(800, {
    ...named,
    intent: { action: 'evidence.export', resource: 'evidence:leaves', facts },
  });
  const receipt = appended([], payloadFor(record));
  const all = [...leaves, leafOf(receipt)];
  const [proof, consistency] = [await proofOf(Number(size), all), await consistencyOf(all, Number(size))];
  return canonicalize({ checkpoint: noteOver(all), consistency, end: { proof, receipt, record } });
}
