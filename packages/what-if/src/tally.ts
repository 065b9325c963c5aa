import { sha256Of, Verdict } from '@countersign/contracts';
import type { Digest, PrincipalId, ReceiptId } from '@countersign/contracts';
import { examplesMax, VerdictAgain } from '@countersign/contracts/control-plane';
import type { Changed, WhatIfQuestion, WhatIfReport } from '@countersign/contracts/control-plane';
import { canonicalBytes, parsePlainJson, type CryptoProvider } from '@countersign/crypto';
import { isWidened } from './widened.ts';

type Refused = WhatIfReport['unverifiable']['first'][number];
type Share = Pick<WhatIfReport['agents'][number], 'decisions' | 'changed' | 'widened' | 'unreplayable'>;
type Input = { question: WhatIfQuestion; isWhole: boolean; provider: CryptoProvider };

/** Counts everything that a report contains. */
export class Tally {
  decisions = 0;
  #receipts = 0;
  #refused = 0;
  readonly #firstRefused: Refused[] = [];
  readonly #matrix = emptyMatrix();
  readonly #widened: Changed[] = [];
  readonly #examples = new Map<string, Changed[]>();
  readonly #missing = new Map<string, number>();
  readonly #agents = new Map<PrincipalId, Share>();
  readonly #tools = new Map<string, Pick<Changed, 'action' | 'tool'> & { share: Share }>();

  noteReceipt(): void {
    this.#receipts += 1;
  }

  refuse(refused: { receipt_id: ReceiptId | null; code: string }): void {
    this.#refused += 1;
    if (this.#firstRefused.length < examplesMax) this.#firstRefused.push(refused);
  }

  note(changed: Changed): void {
    this.decisions += 1;
    this.#matrix[changed.before][changed.after] += 1;
    if (isWidened(changed)) this.#widened.push(changed);
    const cell = atKey(this.#examples, `${changed.before} ${changed.after}`, () => []);
    if (cell.length < examplesMax) cell.push(changed);
    for (const field of changed.missing) this.#missing.set(field, (this.#missing.get(field) ?? 0) + 1);
    const { principal_id, action, tool } = changed;
    count(atKey(this.#agents, principal_id, emptyShare), changed);
    const ofTool = atKey(this.#tools, JSON.stringify([tool, action]), () => ({ action, tool, share: emptyShare() }));
    count(ofTool.share, changed);
  }

  report({ question, isWhole, provider }: Input): WhatIfReport {
    const report = {
      type: 'countersign.what-if.v1' as const,
      question,
      decisions: this.decisions,
      receipts: this.#receipts,
      is_whole: isWhole,
      unverifiable: { count: this.#refused, first: this.#firstRefused },
      matrix: this.#matrix,
      widened: this.#widened,
      examples: this.#shownExamples(),
      missing: countedInOrder(this.#missing),
      agents: inOrder(this.#agents).map(([id, share]) => ({ principal_id: id as PrincipalId, ...share })),
      tools: inOrder(this.#tools).map(([, { tool, action, share }]) => ({ tool, action, ...share })),
    };
    return { ...report, report_hash: hashOf(report, provider) };
  }

  #shownExamples(): WhatIfReport['examples'] {
    return Verdict.options.flatMap((before) =>
      VerdictAgain.options.flatMap((after) => {
        const decisions = this.#examples.get(`${before} ${after}`);
        return decisions === undefined ? [] : [{ before, after, decisions }];
      }),
    );
  }
}

function hashOf(report: Omit<WhatIfReport, 'report_hash'>, provider: CryptoProvider): Digest {
  return sha256Of(provider, canonicalBytes(parsePlainJson(report)));
}

export function emptyMatrix(): WhatIfReport['matrix'] {
  const row = () => ({ ALLOW: 0, DENY: 0, ESCALATE: 0, UNREPLAYABLE: 0 });
  return { ALLOW: row(), DENY: row(), ESCALATE: row() };
}

function emptyShare(): Share {
  return { decisions: 0, changed: 0, widened: 0, unreplayable: 0 };
}

function count(share: Share, changed: Changed): void {
  share.decisions += 1;
  if (changed.after === 'UNREPLAYABLE') share.unreplayable += 1;
  else if (changed.after !== changed.before) share.changed += 1;
  if (isWidened(changed)) share.widened += 1;
}

function atKey<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const entry = map.get(key);
  if (entry !== undefined) return entry;
  const made = make();
  map.set(key, made);
  return made;
}

export function countedInOrder(missing: ReadonlyMap<string, number>): WhatIfReport['missing'] {
  return inOrder(missing).map(([field, decisions]) => ({ field, decisions }));
}

/** Sorts by key in the order of code units, which is the same on every machine. */
function inOrder<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([left], [right]) => (left < right ? -1 : 1));
}
