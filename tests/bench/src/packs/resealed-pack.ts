import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { sha256Of, type Digest, type Instant } from '@countersign/contracts';
import {
  PackEnd,
  PackHeader,
  PackReceipt,
  type BoundaryRecord,
  type ReceiptPayload,
} from '@countersign/contracts/governance-kernel';
import {
  canonicalize,
  consistencyProof,
  decodeHex,
  encodeBase64,
  encodeBase64Url,
  formatCheckpoint,
  inclusionProof,
  parseCheckpoint,
  parsePlainJson,
  publicKeyToJwk,
  signNote,
  splitNote,
  utf8Bytes,
} from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey, type Signer } from '@countersign/crypto/signing';
import { intentHash, PackTally, payloadText, receiptHash, sealRecord, signatureText } from '@countersign/receipts';
import { TreeLevels } from './tree-levels.ts';

const validFrom = '2020-01-01T00:00:00.000Z';
const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

type Sealed = { payload: ReceiptPayload; record: BoundaryRecord };
/** A decision, and the outcome of its call. `null` for a call that its caller executes. */
type Pattern = Sealed & { outcome: ReceiptPayload | null };
/** A receipt with its new signature, as members of a line. */
type Resealed = { payload: ReceiptPayload; members: string; hash: Digest };
type ChainEnd = { clock: number; hash: ReceiptPayload['prev_hash'] };

/** The keys of a resealed pack, in the form of a key file. */
type PackKeys = { keys: readonly unknown[] };

/**
 * Makes packs of any size from a pack of a kernel. Decisions are sealed again: with new ids, in growing chains, under new
 * keys, and in a log of their own. Everything else is copied, so the packs verify like those of a kernel.
 */
export class PackSealer {
  readonly #receipts = createSigner(generateSigningKey().privateKeyPem);
  readonly #log = createSigner(generateSigningKey().privateKeyPem);
  readonly #header: PackHeader;
  readonly #policies: readonly string[];
  readonly #patterns: readonly Pattern[];
  readonly #end: PackEnd;

  /** `lines`: the lines of a pack of the whole log, which has one policy. */
  constructor(lines: readonly string[]) {
    const values = lines.map((line): unknown => JSON.parse(line));
    this.#header = PackHeader.parse(values[0]);
    this.#end = PackEnd.parse(values.at(-1));
    this.#policies = lines.filter((line) => line.startsWith('{"policy":'));
    this.#patterns = lastDecisions(values.slice(1, -1));
  }

  /** `published`: the keys that the kernel of the pattern published. Their policy key stays valid. */
  keysFrom(published: PackHeader['keys']): PackKeys {
    const kept = published.filter(({ purpose }) => purpose !== 'receipts' && purpose !== 'log');
    const log = { ...jwkOf(this.#log, 'log'), log_origin: this.#header.log_origin };
    return { keys: [...kept, jwkOf(this.#receipts, 'receipts'), log] };
  }

  /** Writes a pack with this number of receipts. */
  async write(path: string, size: number): Promise<void> {
    const unproven = `${path}.unproven`;
    const tree = new TreeLevels(size + 1);
    await writeLines(unproven, this.#sealedLines(size, tree));
    const checkpoint = this.#checkpointOf(tree, timeOf(this.#header.checkpoints.at(-1) ?? ''));
    await writeLines(path, this.#packLines(unproven, { size, tree, checkpoint }));
    await rm(unproven);
  }

  /** The receipts with their records as canonical members of a line, which lacks its proof. */
  *#sealedLines(size: number, tree: TreeLevels): Generator<string> {
    const ends = new Map<string, ChainEnd>();
    const placed = (payload: ReceiptPayload): ReceiptPayload => {
      const { clock, hash } = ends.get(payload.session_id) ?? { clock: 0, hash: null };
      return { ...payload, lamport_clock: clock + 1, prev_hash: hash };
    };
    const added = ({ payload, members, hash }: Resealed) => {
      ends.set(payload.session_id, { clock: payload.lamport_clock, hash });
      tree.append(decodeHex(hash.slice('sha256:'.length)));
      return members;
    };
    for (let index = 0, nth = 0; index < size; nth += 1) {
      const pattern = this.#patterns[nth % this.#patterns.length];
      if (pattern === undefined) throw new Error('The pack of the pattern has no decision');
      const ids = idsOf(ulidAt(pattern.payload.receipt_id, index));
      const payload = placed({ ...pattern.payload, ...ids });
      const record_id = ids.receipt_id.replace('rcp_', 'rec_') as BoundaryRecord['record_id']; // a new ULID
      const decision = this.#seal({ payload, record: { ...pattern.record, ...ids, record_id } });
      yield added(decision);
      index += 1;
      if (pattern.outcome === null || index === size) continue;
      yield added(this.#sign(placed(settledAs(pattern.outcome, decision.payload, index)), ''));
      index += 1;
    }
  }

  #seal({ payload, record: { record_hash: _old, ...record } }: Sealed) {
    const { text, hash: record_hash } = sealRecord(nodeProvider, record);
    return this.#sign({ ...payload, record_hash }, `,"record":${text}`);
  }

  /** `record`: the member with the record of the receipt. Empty for an outcome. */
  #sign(payload: ReceiptPayload, record: string): Resealed {
    const signed = payloadText(payload);
    const value = encodeBase64Url(this.#receipts.sign(utf8Bytes(signed)));
    const signature = { alg: 'Ed25519', key_id: this.#receipts.keyId, value } as const;
    const hash = receiptHash(nodeProvider, { payload: signed, signature });
    const members = `"receipt":{"payload":${signed},"signature":${signatureText(signature)}}${record}`;
    return { payload, members, hash };
  }

  async *#packLines(
    unproven: string,
    { size, tree, checkpoint }: { size: number; tree: TreeLevels; checkpoint: string },
  ): AsyncGenerator<string> {
    const scope = { ...this.#header.scope, leaves: { from: 0, to: size } };
    const tally = new PackTally(nodeProvider);
    const counted = (line: string) => {
      tally.addLine(utf8Bytes(line));
      return line;
    };
    yield counted(canonicalize(parsePlainJson({ ...this.#header, scope, checkpoints: [checkpoint], consistency: [] })));
    for (const policy of this.#policies) {
      tally.addPolicy();
      yield counted(policy);
    }
    let index = 0;
    for await (const members of createInterface({ input: createReadStream(unproven) })) {
      yield counted(`{${await proofOf(tree, { index, size })},${members}}`);
      tally.addReceipt(countedOf(members));
      index += 1;
    }
    const facts = {
      ...{ format: this.#header.format, scope, ...tally.counts() },
      ...{ log_size: size, log_root: `sha256:${Buffer.from(tree.root).toString('hex')}` },
    };
    yield await this.#endLine(facts, tree);
  }

  async #endLine(facts: Record<string, unknown>, tree: TreeLevels): Promise<string> {
    const { end, checkpoint } = this.#end;
    const { payload } = end.receipt;
    if (end.record === undefined) throw new Error('The statement of a pack has a record');
    const plain = parsePlainJson(facts);
    const args_hash = sha256Of(nodeProvider, canonicalize(plain));
    const { action, tool, resource } = payload;
    const { tenant_id: tenant, principal_id: principal, session_id: session } = payload;
    const intent_hash = intentHash(nodeProvider, { tenant, principal, session, action, tool, resource, args_hash });
    const intent = { ...end.record.intent, args_hash, intent_hash, facts: plain as BoundaryRecord['intent']['facts'] }; // plain JSON
    const { members, hash } = this.#seal({ payload: { ...payload, args_hash }, record: { ...end.record, intent } });
    const from = tree.size;
    tree.append(decodeHex(hash.slice('sha256:'.length)));
    const proof = await proofOf(tree, { index: from, size: tree.size });
    const consistency = await consistencyProof(nodeProvider, tree.read, { from, to: tree.size });
    const note = this.#checkpointOf(tree, timeOf(checkpoint));
    return `{"checkpoint":${JSON.stringify(note)},"consistency":${JSON.stringify(consistency.map(encodeBase64))},"end":{${proof},${members}}}`;
  }

  #checkpointOf({ size, root }: TreeLevels, time: string): string {
    const origin = this.#header.log_origin;
    const text = formatCheckpoint({ origin, size, root, time });
    return signNote(nodeProvider, text, [{ name: origin, signer: this.#log }]);
  }
}

/** The last decision of each session. All have the latest of their times, so the times of the log never decrease. */
function lastDecisions(values: readonly unknown[]): Pattern[] {
  const last = new Map<string, Sealed>();
  const outcomes = new Map<string, ReceiptPayload>();
  for (const value of values) {
    const { data } = PackReceipt.safeParse(value);
    if (data === undefined) continue;
    const { payload } = data.receipt;
    if (payload.decision_receipt_id !== undefined) outcomes.set(payload.decision_receipt_id, payload);
    if (data.record?.kind === 'decision') last.set(payload.session_id, { payload, record: data.record });
  }
  const latest = [...last.values()].map(({ payload }) => payload.issued_at).reduce(later, '' as Instant); // before any instant
  return [...last.values()].map(({ payload, record }) => ({
    payload: { ...payload, issued_at: latest },
    record: { ...record, created_at: latest },
    outcome: outcomes.get(payload.receipt_id) ?? null,
  }));
}

const later = (left: Instant, right: Instant) => (left > right ? left : right);

/** The outcome of a resealed decision, at the time of all resealed decisions. */
function settledAs(outcome: ReceiptPayload, decision: ReceiptPayload, index: number): ReceiptPayload {
  const { receipt_id } = idsOf(ulidAt(outcome.receipt_id, index));
  const { decision_id, receipt_id: decision_receipt_id, record_hash, issued_at } = decision;
  return { ...outcome, receipt_id, decision_id, decision_receipt_id, record_hash, issued_at };
}

function countedOf(members: string) {
  const { receipt, record } = PackReceipt.omit({ proof: true }).parse(JSON.parse(`{${members}}`));
  return { payload: receipt.payload, receiptHash: receiptHash(nodeProvider, receipt), record };
}

async function proofOf(tree: TreeLevels, { index, size }: { index: number; size: number }): Promise<string> {
  const hashes = await inclusionProof(nodeProvider, tree.read, { index, size });
  return `"proof":{"hashes":${JSON.stringify(hashes.map(encodeBase64))},"log_index":${index},"tree_size":${size}}`;
}

/** A ULID with the time of the given id. Its random part depends on the index alone. */
function ulidAt(id: string, index: number): string {
  const random = createHash('sha256').update(String(index)).digest().subarray(0, 16);
  return `${id.slice(4, 14)}${Array.from(random, (byte) => crockford[byte % 32]).join('')}`;
}

function idsOf(ulid: string): Pick<ReceiptPayload, 'receipt_id' | 'decision_id'> {
  return { receipt_id: `rcp_${ulid}`, decision_id: `dec_${ulid}` } as Pick<
    ReceiptPayload,
    'receipt_id' | 'decision_id'
  >; // a new ULID
}

function timeOf(note: string): string {
  const { time } = parseCheckpoint(splitNote(note).text);
  if (time === undefined) throw new Error('A checkpoint of the pack has no time');
  return time;
}

function jwkOf({ publicKey, keyId }: Signer, purpose: 'receipts' | 'log') {
  return { ...publicKeyToJwk(publicKey), kid: keyId, purpose, valid_from: validFrom };
}

async function writeLines(path: string, lines: Iterable<string> | AsyncIterable<string>): Promise<void> {
  const file = createWriteStream(path);
  for await (const line of lines) if (!file.write(`${line}\n`)) await once(file, 'drain');
  file.end();
  await finished(file);
}
