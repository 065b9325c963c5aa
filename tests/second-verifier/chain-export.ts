import { takeAnnouncement, type Announcement } from './announcement.ts';
import type { Chain } from './chain.ts';
import type { Evidence } from './evidence.ts';
import { need } from './fault.ts';
import { isDigest } from './forms.ts';
import type { Entry } from './statements.ts';
import type { JsonObject } from './strict-json.ts';

/** The lines of `countersign/chain-export.v2` after its header (11.1, 11.2). */
export class ChainExport {
  readonly #evidence: Evidence;
  readonly #heads = new Map<string, Announcement>();

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  take(line: JsonObject): void {
    if ('head' in line) return this.#takeHead(line);
    this.#evidence.rules.schemas.assertForm(line, 'ExportedReceipt');
    const entry = line as unknown as Entry; // the schema was checked
    const chain = this.#evidence.take(entry, { beginning: 'at 1', recordFirst: false });
    const head = this.#heads.get(`${chain.tenant}\0${chain.session}`);
    if (head !== undefined) assertAgrees(head, chain, entry.receipt.payload.lamport_clock);
  }

  end(): void {
    const { chains, missing } = this.#evidence;
    this.#evidence.line = 1;
    need(chains.size > 0 || this.#heads.size > 0, 'EMPTY', '12.2');
    for (const [id, head] of this.#heads)
      if (chains.get(id)?.places.has(Number(head.facts['lamport_clock'])) !== true)
        missing.add(`the end of ${String(head.facts['session_id'])}`);
    for (const [id, { last, session }] of chains)
      if (this.#heads.get(id)?.facts['lamport_clock'] !== last) missing.add(`the head of ${session}`);
  }

  #takeHead(line: JsonObject): void {
    this.#evidence.rules.schemas.assertForm(line, 'ExportedHead');
    need(this.#evidence.receipts === 0, 'MALFORMED', '11.1');
    const entry = line['head'] as unknown as Entry; // the schema was checked
    const code = 'HEAD_MISMATCH';
    const head = takeAnnouncement(this.#evidence, entry, { kind: 'head', code, statesTime: true });
    const { session_id, lamport_clock, receipt_hash } = head.facts;
    need(typeof session_id === 'string' && Number.isInteger(lamport_clock) && isDigest(receipt_hash), code, '11.2');
    const id = `${head.payload.tenant_id}\0${session_id}`;
    need(!this.#heads.has(id), 'DUPLICATE', '11.1');
    this.#heads.set(id, head);
  }
}

function assertAgrees({ facts, proof }: Announcement, { places }: Chain, clock: number): void {
  if (clock > Number(facts['lamport_clock'])) return;
  const place = places.get(clock);
  need(place?.logIndex === undefined || proof.log_index > place.logIndex, 'TIME_MISMATCH', '9.8');
  if (clock === facts['lamport_clock']) need(place?.hash === facts['receipt_hash'], 'HEAD_MISMATCH', '11.2');
}
