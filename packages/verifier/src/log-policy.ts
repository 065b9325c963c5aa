import { parseCosignerVkey, parseVkey } from '@countersign/crypto';
import type { CryptoProvider, NoteKey } from '@countersign/crypto';
import { VerificationError } from './verification-error.ts';

/** c2sp.org/tlog-policy: the cosignatures that a checkpoint needs. */
export type LogPolicy = {
  /** The accepted logs. An empty list accepts each log of a trusted key. */
  logs: readonly NoteKey[];
  witnesses: readonly NoteKey[];
  /** `null`: no cosignature is required (`quorum none`). */
  quorum: Quorum | null;
};

/** A witness, or a group of which `threshold` members must cosign. */
export type Quorum = NoteKey | { threshold: number; members: readonly Quorum[] };

/** The maximum number of lines. The standard recommends support for at least 32 logs, 32 witnesses and 32 groups. */
const linesMax = 512;

/** Reads the text of a policy file. Throws {@link VerificationError} `MALFORMED` with the number of the line. */
export function parseLogPolicy(text: string, provider: CryptoProvider): LogPolicy {
  const lines = text.split('\n');
  if (lines.length > linesMax) throw malformed(`the file has more than ${linesMax} lines`);
  const reading = new PolicyReading(provider);
  for (const [at, line] of lines.entries()) {
    try {
      reading.take(line);
    } catch (error) {
      throw malformed(`line ${at + 1}: ${error instanceof Error ? error.message : 'not read'}`);
    }
  }
  return reading.end();
}

class PolicyReading {
  readonly #provider: CryptoProvider;
  readonly #logs: NoteKey[] = [];
  readonly #witnesses: NoteKey[] = [];
  /** Witnesses and groups share one namespace. */
  readonly #named = new Map<string, Quorum>();
  readonly #members = new Set<string>();
  #quorum: Quorum | null | undefined;

  constructor(provider: CryptoProvider) {
    this.#provider = provider;
  }

  take(line: string): void {
    // eslint-disable-next-line no-control-regex -- the standard allows no control character but the tab
    if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(line)) throw new Error('control characters');
    const [keyword = '', ...items] = line.split(/[ \t]+/).filter((item) => item !== '');
    if (keyword === '' || keyword.startsWith('#')) return;
    if (keyword === 'log') this.#takeLog(items);
    else if (keyword === 'witness') this.#takeWitness(items);
    else if (keyword === 'group') this.#takeGroup(items);
    else if (keyword === 'quorum') this.#takeQuorum(items);
    else throw new Error('the first word is not log, witness, group or quorum');
  }

  end(): LogPolicy {
    if (this.#quorum === undefined) throw malformed('the file has no quorum line');
    return { logs: this.#logs, witnesses: this.#witnesses, quorum: this.#quorum };
  }

  #takeLog([vkey = '', ...rest]: string[]): void {
    if (rest.length > 1) throw new Error('a log line has a key and an optional URL');
    this.#logs.push(withoutTwin(this.#logs, parseVkey(this.#provider, vkey)));
  }

  #takeWitness([name = '', vkey = '', ...rest]: string[]): void {
    if (rest.length > 1) throw new Error('a witness line has a name, a key and an optional URL');
    const key = withoutTwin(this.#witnesses, parseCosignerVkey(this.#provider, vkey));
    this.#witnesses.push(key);
    this.#define(name, key);
  }

  #takeGroup([name = '', rule = '', ...members]: string[]): void {
    if (members.length === 0) throw new Error('a group line has a name, a rule and at least one member');
    const threshold = thresholdOf(rule, members.length);
    const quorums = members.map((member) => {
      // Each witness can contribute to the quorum in one way only.
      if (this.#members.has(member)) throw new Error(`${member} is already a member of a group`);
      this.#members.add(member);
      return this.#find(member);
    });
    this.#define(name, { threshold, members: quorums });
  }

  #takeQuorum([name = '', ...rest]: string[]): void {
    if (this.#quorum !== undefined || rest.length > 0)
      throw new Error('the file must have exactly one quorum line with one name');
    this.#quorum = name === 'none' ? null : this.#find(name);
  }

  #define(name: string, quorum: Quorum): void {
    if (name === 'none' || this.#named.has(name)) throw new Error(`the name ${name} is already used or reserved`);
    this.#named.set(name, quorum);
  }

  #find(name: string): Quorum {
    const found = this.#named.get(name);
    if (found === undefined) throw new Error(`no earlier line defines ${name}`);
    return found;
  }
}

function thresholdOf(rule: string, members: number): number {
  if (rule === 'all') return members;
  if (rule === 'any') return 1;
  const threshold = /^[1-9][0-9]*$/.test(rule) ? Number(rule) : 0;
  if (threshold < 1 || threshold > members)
    throw new Error(`the rule must be all, any, or a number from 1 to ${members}`);
  return threshold;
}

/** Two names of one key would count as two parties. */
function withoutTwin(keys: readonly NoteKey[], key: NoteKey): NoteKey {
  const bytes = String(key.publicKey);
  if (keys.some(({ publicKey }) => String(publicKey) === bytes)) throw new Error('an earlier line has the same key');
  return key;
}

function malformed(message: string): VerificationError {
  return new VerificationError('MALFORMED', `policy: ${message}`);
}
