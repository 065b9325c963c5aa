import { takeAnnouncement, type Announcement } from './announcement.ts';
import type { Chain } from './chain.ts';
import type { Evidence } from './evidence.ts';
import { need } from './fault.ts';
import { takeLastCheckpoint } from './last-checkpoint.ts';
import type { Entry } from './statements.ts';
import type { JsonObject } from './strict-json.ts';
import { assertTotals } from './totals.ts';

/** The lines of `countersign/period-export.v1` after its header (11.4). */
export class PeriodExport {
  readonly #evidence: Evidence;
  readonly #header: { tenant_id: string; from: string; to: string };
  #statement: Announcement | null = null;
  #current: Chain | null = null;

  constructor(evidence: Evidence, header: JsonObject) {
    this.#evidence = evidence;
    this.#header = header as { tenant_id: string; from: string; to: string }; // PeriodHeader
  }

  take(line: JsonObject): void {
    need(this.#statement === null, 'period' in line ? 'DUPLICATE' : 'MALFORMED', '11.4');
    if ('period' in line) return this.#takeStatement(line);
    this.#evidence.rules.schemas.assertForm(line, 'ExportedReceipt');
    const entry = line as unknown as Entry; // the schema was checked
    const { tenant_id, session_id, issued_at } = entry.receipt.payload;
    const { from, to } = this.#header;
    const chain = this.#evidence.chains.get(`${tenant_id}\0${session_id}`) ?? null;
    const isRepeated = chain !== null && chain !== this.#current;
    const isWithin = tenant_id === this.#header.tenant_id && issued_at >= from && issued_at < to;
    this.#current = this.#evidence.take(entry, { beginning: 'anywhere', recordFirst: false });
    need(isWithin, 'PERIOD_MISMATCH', '11.4');
    need(!isRepeated, 'DUPLICATE', '11.4');
  }

  end(): void {
    if (this.#statement !== null) return assertTotals(this.#evidence, this.#statement, { mayLack: true });
    need(this.#evidence.chains.size > 0, 'EMPTY', '12.2');
    this.#evidence.missing.add('the statement of the period');
  }

  #takeStatement(line: JsonObject): void {
    this.#evidence.rules.schemas.assertForm(line, 'ExportedPeriod');
    takeLastCheckpoint(this.#evidence, line);
    const { tenant_id, from, to } = this.#header;
    const code = 'PERIOD_MISMATCH';
    const entry = line['period'] as unknown as Entry; // the schema was checked
    const statement = takeAnnouncement(this.#evidence, entry, {
      kind: 'period',
      code,
      notBefore: to,
      statesTime: true,
    });
    const isOfHeader = statement.facts['from'] === from && statement.facts['to'] === to;
    need(isOfHeader && statement.payload.tenant_id === tenant_id, code, '11.4');
    this.#statement = statement;
  }
}
