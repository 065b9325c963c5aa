import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { need, present } from './fault.ts';
import { fromBase64, laterBy, minuteMs, sha256 } from './forms.ts';
import type { Checkpoint } from './log.ts';

/** A key of a policy: `name+id+base64`. The type is 1 for logs and 4 for witnesses. */
type PolicyKey = { name: string; id: Buffer; raw: Buffer; publicKey: KeyObject };
type Quorum = { key: PolicyKey } | { threshold: number; members: Quorum[] };
type Seen = { size: number; seconds: number };

/** The witnesses of a policy (C2SP tlog-policy), and the checkpoints that they cosigned (9.9, 9.10, 12.4). */
export class Witnesses {
  readonly #logs: PolicyKey[] = [];
  readonly #keys: PolicyKey[] = [];
  readonly #last = new Map<PolicyKey, number>();
  readonly #reached: Seen[] = [];
  #quorum: Quorum | null = null;

  constructor(policy: string) {
    const names = new Map<string, Quorum>();
    const found = (name = '') => present(names.get(name), 'MALFORMED', '9.9');
    for (const line of policy.split('\n')) {
      const [word = '#', ...items] = line.split(/[ \t]+/).filter((item) => item !== '');
      const [name = '', ...more] = items;
      if (word.startsWith('#')) continue;
      if (word === 'log') this.#logs.push(keyOf(name, 1));
      else if (word === 'witness') {
        const key = keyOf(more[0] ?? '', 4);
        this.#keys.push(key);
        names.set(name, { key });
      } else if (word === 'group') {
        const [rule = '', ...members] = more;
        const threshold = { all: members.length, any: 1 }[rule] ?? Number(rule);
        names.set(name, { threshold, members: members.map(found) });
      } else {
        need(word === 'quorum', 'MALFORMED', '9.9');
        this.#quorum = name === 'none' ? null : found(name);
      }
    }
  }

  get asksNothing(): boolean {
    return this.#quorum === null;
  }

  /** Takes the next checkpoint, in ascending order of size. */
  take(note: string, { origin, size, time, key }: Checkpoint): void {
    const isListed = this.#logs.some(({ name, raw }) => name === origin && raw.equals(key.raw));
    if (this.#logs.length > 0 && !isListed) return;
    const times = this.#cosignedAt(note);
    for (const [witness, seconds] of times) {
      need(time <= laterBy(instantOf(seconds), minuteMs), 'TIME_MISMATCH', '9.10');
      need((this.#last.get(witness) ?? 0) <= seconds, 'TIME_MISMATCH', '9.10');
      this.#last.set(witness, seconds);
    }
    const seconds = this.#quorum === null ? undefined : reachedAt(this.#quorum, times);
    if (seconds !== undefined) this.#reached.push({ size, seconds });
  }

  /**
   * The bounds on the time of these log positions (12.4). `by` is when witnesses first saw a log with all positions.
   * `after` is when they last saw a log without them, or `null`.
   */
  boundsOf(places: number[]): { after: string | null; by: string } | null {
    const [first, last] = [Math.min(...places), Math.max(...places)];
    const having = this.#reached.filter(({ size }) => size > last).map(({ seconds }) => seconds);
    if (having.length === 0) return null;
    const by = Math.min(...having);
    const lacking = this.#reached.filter(({ size, seconds }) => size <= first && seconds <= by);
    const after = lacking.length === 0 ? null : instantOf(Math.max(...lacking.map(({ seconds }) => seconds)));
    return { after, by: instantOf(by) };
  }

  #cosignedAt(note: string): Map<PolicyKey, number> {
    const border = note.lastIndexOf('\n\n');
    const text = note.slice(0, border + 1);
    const times = new Map<PolicyKey, number>();
    for (const line of note.slice(border + 2, -1).split('\n')) {
      const [, name, value] = line.split(' ');
      const bytes = present(fromBase64(value), 'CHECKPOINT_INVALID', '9.2');
      const key = this.#keys.find((existing) => existing.name === name && existing.id.equals(bytes.subarray(0, 4)));
      if (key === undefined || times.has(key)) continue;
      need(bytes.length === 76, 'CHECKPOINT_INVALID', '9.9');
      const seconds = Number(bytes.readBigUInt64BE(4));
      need(seconds < Date.parse('+010000-01-01T00:00:00Z') / 1_000, 'CHECKPOINT_INVALID', '9.9');
      const signed = Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`);
      need(verify(null, signed, key.publicKey, bytes.subarray(12)), 'CHECKPOINT_INVALID', '9.9');
      times.set(key, seconds);
    }
    return times;
  }
}

function reachedAt(quorum: Quorum, times: Map<PolicyKey, number>): number | undefined {
  if ('key' in quorum) return times.get(quorum.key);
  const reached = quorum.members.map((member) => reachedAt(member, times)).filter((time) => time !== undefined);
  return reached.sort((left, right) => left - right)[quorum.threshold - 1];
}

function keyOf(vkey: string, type: number): PolicyKey {
  const [name = '', hint = '', ...rest] = vkey.split('+');
  const typed = present(fromBase64(rest.join('+')), 'MALFORMED', '9.9');
  const id = sha256(name, '\n', typed).subarray(0, 4);
  need(typed[0] === type && typed.length === 33 && id.toString('hex') === hint, 'MALFORMED', '9.9');
  const raw = typed.subarray(1);
  const publicKey = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') },
    format: 'jwk',
  });
  return { name, id, raw, publicKey };
}

function instantOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}
