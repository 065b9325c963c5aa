import { takeAnnouncement, type Announcement } from './announcement.ts';
import { Controls } from './controls.ts';
import type { Evidence } from './evidence.ts';
import { need } from './fault.ts';
import { digestText, hashOf, laterBy, minuteMs, sha256 } from './forms.ts';
import { keyFor, type Key } from './keys.ts';
import { takeLastCheckpoint } from './last-checkpoint.ts';
import { assertActivation } from './policy.ts';
import { assertBundle, assertRules } from './rules.ts';
import type { Entry, Payload, Policy, Receipt, Scope, Sealed } from './statements.ts';
import { canonical, type JsonObject } from './strict-json.ts';
import { assertTotals } from './totals.ts';

const backed: readonly unknown[] = ['passkey', 'ed25519', 'access_key', 'assertion']; // 11.11
const code = 'PERIOD_MISMATCH';

/** The lines of `countersign/evidence-pack.v1` after its header (11.6 to 11.14). */
export class Pack {
  readonly #evidence: Evidence;
  readonly #format: string;
  readonly #scope: Scope;
  readonly #controls: Controls;
  readonly #policies = new Map<string, Policy>();
  readonly #approvalSessions = new Map<string, string>();
  #announced: Policy | null = null;
  /** The key of the announced policy. */
  #policyKey: Key | null = null;
  #statement: Announcement | null = null;
  #lastIndex = -1;
  #latest: string | null = null;
  #unbackedVotes = 0;
  #linesHash = sha256('countersign/evidence-pack.v1');

  constructor(evidence: Evidence, header: JsonObject, text: string) {
    const { scope, log_origin, format } = header as JsonObject & { scope: Scope; format: string }; // PackHeader
    this.#evidence = evidence;
    this.#scope = scope;
    this.#format = format;
    this.#controls = new Controls(scope);
    need(canonical(header) === text, 'MALFORMED', '11.6');
    const isOneLog = evidence.checkpoints.every(({ origin }) => origin === log_origin);
    need(isOneLog, 'CHECKPOINT_INVALID', '11.7');
    this.#hashLine(text);
  }

  take(line: JsonObject, text: string): void {
    need(canonical(line) === text, 'MALFORMED', '11.6');
    need(this.#statement === null, 'MALFORMED', '11.9');
    if ('end' in line) return this.#takeEnd(line);
    if ('policy' in line) this.#takePolicy(line);
    else this.#takeReceipt(line);
    this.#hashLine(text);
  }

  end(): void {
    if (this.#statement !== null) return this.#assertEnd(this.#statement);
    need(this.#evidence.chains.size > 0, 'EMPTY', '12.2');
    this.#evidence.missing.add('the end statement');
  }

  #hashLine(text: string): void {
    this.#linesHash = sha256(this.#linesHash, sha256(text)); // 11.10
  }

  #takePolicy(line: JsonObject): void {
    this.#evidence.rules.schemas.assertForm(line, 'PackPolicy');
    const policy = line['policy'] as unknown as Policy; // the schema was checked
    need([this.#scope.tenant_id, '*'].includes(policy.tenant_id), 'POLICY_MISMATCH', '11.8');
    need(hashOf(policy.bundle) === policy.policy_hash, 'POLICY_MISMATCH', '7.2');
    this.#policyKey = assertActivation(policy, this.#evidence.rules.keys);
    assertBundle(policy, this.#evidence.rules.schemas);
    need(this.#announced === null, 'POLICY_MISMATCH', '11.8');
    const id = `${policy.policy_hash} ${policy.epoch}`;
    need(!this.#policies.has(id), 'DUPLICATE', '11.8');
    this.#policies.set(id, policy);
    this.#announced = policy;
  }

  #takeReceipt(line: JsonObject): void {
    this.#evidence.rules.schemas.assertForm(line, 'PackReceipt');
    const entry = line as unknown as Entry; // the schema was checked
    const { payload } = entry.receipt;
    const policy = this.#policyOf(payload);
    if (entry.record !== undefined && policy !== undefined) assertRules(entry.record, policy);
    const { leaves, issued } = this.#scope;
    const beginning = leaves.from > 0 || issued !== null ? 'anywhere' : 'at 1'; // 10.2
    this.#evidence.take(entry, { beginning, recordFirst: true, policy });
    this.#assertWithin(entry);
    if (payload.kind === 'decision') this.#assertNamed(entry.receipt, policy);
    else need(this.#announced === null, 'POLICY_MISMATCH', '11.8');
    if (entry.record === undefined) return;
    this.#controls.take(entry.record, policy);
    this.#takeSession(entry.record);
    if (isUnbackedVote(entry.record)) this.#unbackedVotes += 1;
  }

  #takeSession({ kind, verdict, approval_id, session_id }: Sealed): void {
    if (approval_id === null || (kind === 'decision' && verdict !== 'ALLOW')) return;
    const session = this.#approvalSessions.get(approval_id) ?? session_id; // 5.14
    this.#approvalSessions.set(approval_id, session);
    need(session === session_id, 'APPROVAL_CONTRADICTED', '5.14');
  }

  #policyOf({ policy_hash, policy_epoch }: Payload): Policy | undefined {
    return this.#policies.get(`${policy_hash ?? ''} ${policy_epoch}`);
  }

  #assertNamed({ payload, signature }: Receipt, policy: Policy | undefined): void {
    const { policy_hash, issued_at } = payload;
    need((policy_hash === null) === (policy === undefined), 'POLICY_MISMATCH', '11.8');
    if (this.#announced === null) return;
    need(this.#announced === policy, 'POLICY_MISMATCH', '11.8');
    const revokedAt = this.#policyKey?.revokedAt ?? null;
    const { validUntil } = keyFor(this.#evidence.rules.keys, signature, 'receipts');
    const isSeen = revokedAt === null || (issued_at < revokedAt && (validUntil === null || validUntil > revokedAt));
    need(isSeen, 'KEY_REVOKED', '11.8');
    need(policy.confirmed_at <= laterBy(issued_at, minuteMs), 'TIME_MISMATCH', '11.8');
    this.#announced = null;
  }

  #assertWithin({ receipt: { payload }, proof }: Entry): void {
    const { tenant_id, leaves, sessions, issued } = this.#scope; // 11.7
    const place = proof?.log_index ?? -1;
    need(payload.tenant_id === tenant_id && place >= leaves.from && place < leaves.to, code, '11.7');
    need(sessions === null || sessions.includes(payload.session_id), code, '11.7');
    const isOfTime = issued === null || (payload.issued_at >= issued.from && payload.issued_at < issued.to);
    need(isOfTime && place > this.#lastIndex, code, '11.7');
    this.#lastIndex = place;
    const { issued_at } = payload;
    need(this.#latest === null || issued_at >= laterBy(this.#latest, -2 * minuteMs), 'TIME_MISMATCH', '11.7');
    if (this.#latest === null || issued_at > this.#latest) this.#latest = issued_at;
  }

  #takeEnd(line: JsonObject): void {
    this.#evidence.rules.schemas.assertForm(line, 'PackEnd');
    need(this.#announced === null, 'POLICY_MISMATCH', '11.8');
    takeLastCheckpoint(this.#evidence, line);
    const entry = line['end'] as unknown as Entry; // the schema was checked
    this.#statement = takeAnnouncement(this.#evidence, entry, { kind: 'period', code, statesTime: false });
  }

  #assertEnd(statement: Announcement): void {
    const { payload, facts } = statement; // 11.9
    need(payload.action === 'evidence.export' && payload.tenant_id === this.#scope.tenant_id, code, '11.9');
    const openCalls = [...this.#evidence.chains.values()].reduce((sum, chain) => sum + chain.openCalls(), 0);
    const expected: JsonObject = {
      format: this.#format,
      records: this.#evidence.records,
      policies: this.#policies.size,
      open_calls: openCalls, // 11.11
      unbacked_votes: this.#unbackedVotes,
      lines_hash: digestText(this.#linesHash), // 11.10
    };
    for (const [name, value] of Object.entries(expected)) need(facts[name] === value, code, `11.9 ${name}`);
    need(canonical(facts['scope']) === canonical(this.#scope), code, '11.9 scope');
    assertTotals(this.#evidence, statement, { mayLack: false });
    need(this.#scope.leaves.to <= Number(facts['log_size']), code, '11.7');
  }
}

function isUnbackedVote({ kind, intent: { action, facts } }: Sealed): boolean {
  return kind === 'approval' && action === 'approval.approve' && !backed.includes(facts['credential']);
}
