import { assertMove } from './approval-moves.ts';
import { Chain, type Beginning } from './chain.ts';
import { need } from './fault.ts';
import type { Key } from './keys.ts';
import { assertLogged, assertSeenBeforeRevocation, type Checkpoint } from './log.ts';
import { assertPasskey } from './passkey.ts';
import { assertPolicyRecord } from './policy.ts';
import type { Verdicts } from './reason-codes.ts';
import { assertReceipt, isIssuerDefect } from './receipt.ts';
import { assertRecord } from './record.ts';
import type { Schemas } from './schema.ts';
import type { Entry, Policy } from './statements.ts';
import { assertTrace } from './trace.ts';
import type { Witnesses } from './witnesses.ts';

export type Rules = { schemas: Schemas; verdicts: Verdicts; keys: Key[] };

type Order = { beginning: Beginning; recordFirst: boolean; policy?: Policy | undefined };

/** The results of the lines so far, in any format. */
export class Evidence {
  readonly rules: Rules;
  readonly chains = new Map<string, Chain>();
  readonly missing = new Set<string>();
  checkpoints: Checkpoint[] = [];
  /** The witnesses of the caller's policy. `null` without a policy. */
  witnesses: Witnesses | null = null;
  receipts = 0;
  records = 0;
  brokenGlass = 0;
  issuerDefects = 0;
  /** The number of the current line. The header is line 1. */
  line = 1;
  readonly #ids = new Set<string>();
  readonly #places = new Set<number>();

  constructor(rules: Rules) {
    this.rules = rules;
  }

  /** Takes the next receipt of a chain. Throws the code of the first clause that it breaks. */
  take(entry: Entry, { beginning, recordFirst, policy }: Order): Chain {
    const { receipt, record, proof } = entry;
    const { payload } = receipt;
    this.receipts += 1;
    need(payload.kind !== 'outcome' || record === undefined, 'MALFORMED', '11.1');
    const key = this.takeReceipt(entry);
    assertLogged(entry, key, this.checkpoints);
    if (recordFirst) this.takeRecord(entry);
    const id = `${payload.tenant_id}\0${payload.session_id}`;
    const chain = this.chains.get(id) ?? new Chain(payload, beginning);
    this.chains.set(id, chain);
    chain.take(entry);
    this.takePlace(entry);
    chain.takePlace(entry);
    if (!recordFirst) this.takeRecord(entry);
    chain.approvals.take(payload, record, policy);
    if (record === undefined && payload.kind !== 'outcome') this.missing.add(`the record of ${payload.receipt_id}`);
    if (proof === undefined) this.missing.add(`the proof of ${payload.receipt_id}`);
    if (record !== undefined) this.records += 1;
    if (record?.kind === 'break_glass') this.brokenGlass += 1;
    return chain;
  }

  /** Checks a receipt alone (2, 10.1). Returns the key that signed it. */
  takeReceipt({ receipt }: Entry): Key {
    const key = assertReceipt(receipt, this.rules.keys, this.rules.verdicts);
    need(!this.#ids.has(receipt.payload.receipt_id), 'DUPLICATE', '10.1');
    this.#ids.add(receipt.payload.receipt_id);
    if (isIssuerDefect(receipt)) this.issuerDefects += 1;
    return key;
  }

  /** Checks a record alone and with its receipt (3 to 7). */
  takeRecord({ receipt, record, proof }: Entry): void {
    if (record === undefined) return;
    const { schemas, verdicts, keys } = this.rules;
    assertRecord(receipt.payload, record, verdicts);
    assertTrace(record);
    assertMove(record, schemas);
    assertPasskey(record, schemas);
    const policyKey = assertPolicyRecord(record, keys, schemas);
    if (policyKey !== null) assertSeenBeforeRevocation(policyKey, proof, this.checkpoints); // 8.3
  }

  /** Reserves the log position of a receipt. No other receipt may have it (9.8). */
  takePlace({ proof }: Entry): void {
    if (proof === undefined) return;
    need(!this.#places.has(proof.log_index), 'DUPLICATE', '9.8');
    this.#places.add(proof.log_index);
  }
}
