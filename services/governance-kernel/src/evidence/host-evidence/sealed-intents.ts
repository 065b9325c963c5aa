import { AppError, type ReceiptId } from '@countersign/contracts';
import type {
  BoundaryRecord,
  HostReceipt,
  ReceiptPayload,
  StoredReceipt,
} from '@countersign/contracts/governance-kernel';
import { settledMs, unsettledMs, type SealedIntent } from './correlate.ts';
import { destinationsOf, type SealedNames } from './destinations.ts';

type Decided = { receipt: StoredReceipt; record: BoundaryRecord };
type Period = { from: string; to: string };

/** The ledger of one tenant. */
export type SealedLedger = {
  decisions(period: Period): AsyncIterable<readonly Decided[]>;
  outcomes(period: Period): AsyncIterable<readonly ReceiptPayload[]>;
  findDecisions(ids: readonly ReceiptId[]): Promise<readonly Decided[]>;
  settings(of: { action: 'mcp.server.register' | 'sandbox.grant.create'; limit: number }): Promise<BoundaryRecord[]>;
};

/**
 * The limit of decisions, since each event is compared with all of them. A chain that spans more decisions must be sent
 * in parts.
 */
const decisionsMax = 20_000;
/** The limit of settings that are read, newest first. A decision has no destinations from older settings. */
const settingsMax = 1_000;
const earliestMs = Date.UTC(2000, 0, 1);
const latestMs = Date.UTC(9000, 0, 1);

/**
 * The decisions that the events of a chain can belong to. Decisions in shadow mode are omitted, since they permit
 * nothing. Allowed proposals are omitted, since the call is decided again at its execution. Throws LIMIT_REACHED for
 * more than can be compared.
 */
export async function sealedIntents(ledger: SealedLedger, receipts: readonly HostReceipt[]): Promise<SealedIntent[]> {
  if (receipts.length === 0) return [];
  const times = receipts.map(({ event }) => Date.parse(event.observed_at));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const sealed = await sealedNames(ledger);
  const ends = await outcomesIn(ledger, periodOf(first - unsettledMs, last + unsettledMs));
  const intents = new Map<ReceiptId, SealedIntent>();
  const take = (decided: readonly Decided[]) => {
    for (const one of decided) {
      const intent = intentOf(one, { sealed, endedAt: ends.get(one.receipt.payload.receipt_id) });
      if (intent !== null) intents.set(intent.receiptId, intent);
    }
    assertFew(intents.size);
  };
  for await (const page of ledger.decisions(periodOf(first - unsettledMs, last + 1))) take(page);
  // Earlier decisions whose calls ended late enough for these events.
  const isLate = (endedAt: number) => endedAt >= first - settledMs;
  const earlier = [...ends].flatMap(([id, endedAt]) => (isLate(endedAt) && !intents.has(id) ? [id] : []));
  for (let from = 0; from < earlier.length; from += idsInOneRead)
    take(await ledger.findDecisions(earlier.slice(from, from + idsInOneRead)));
  return [...intents.values()];
}

const idsInOneRead = 200;

async function outcomesIn(ledger: SealedLedger, period: Period): Promise<Map<ReceiptId, number>> {
  const ends = new Map<ReceiptId, number>();
  for await (const page of ledger.outcomes(period)) {
    for (const { decision_receipt_id: of, issued_at } of page)
      if (of !== undefined) ends.set(of, Date.parse(issued_at));
    assertFew(ends.size);
  }
  return ends;
}

function assertFew(found: number): void {
  if (found <= decisionsMax) return;
  throw new AppError(
    'LIMIT_REACHED',
    `More than ${decisionsMax} decisions were sealed in the time of this chain. Split it into chains that each cover less time.`,
    { param: 'chain' },
  );
}

function periodOf(fromMs: number, toMs: number): Period {
  const text = (ms: number) => new Date(Math.min(Math.max(ms, earliestMs), latestMs)).toISOString();
  return { from: text(fromMs), to: text(toMs) };
}

function intentOf(
  { receipt: { payload, log_index: logIndex }, record }: Decided,
  { sealed, endedAt }: { sealed: SealedNames; endedAt: number | undefined },
): SealedIntent | null {
  const { verdict, shadow } = payload;
  if (payload.kind !== 'decision' || shadow || (verdict === 'ALLOW' && record.dispatched_by === 'nobody')) return null;
  const decidedAtMs = Date.parse(payload.issued_at);
  const workload = record.intent.facts['context.workload_id'];
  return {
    ...{ logIndex, verdict, decidedAtMs, receiptId: payload.receipt_id, decisionId: payload.decision_id },
    ...{ session: payload.session_id, principal: payload.principal_id },
    ...{ serverId: record.mcp_server_id, grantHash: record.sandbox_grant_hash },
    workload: typeof workload === 'string' ? workload : null,
    untilMs: endedAt === undefined ? decidedAtMs + unsettledMs : endedAt + settledMs,
    destinations: destinationsOf(record, sealed),
    bytesAllowed: bytesAllowedBy(record),
  };
}

/**
 * The smallest of the demanded bytes and the bytes that remained in each budget. Older records have no demand. `null`
 * when none of these is recorded.
 */
function bytesAllowedBy({ demand, budgets }: BoundaryRecord): number | null {
  const remaining = budgets.flatMap(({ egress_remaining_bytes: bytes }) =>
    bytes === null ? [] : [Math.max(bytes, 0)],
  );
  const limits = demand === undefined ? remaining : [demand.egress_bytes, ...remaining];
  return limits.length === 0 ? null : Math.min(...limits);
}

/** Resolves the servers and grants in records through their own sealed receipts. */
async function sealedNames(ledger: SealedLedger): Promise<SealedNames> {
  const [servers, grants] = await Promise.all([
    ledger.settings({ action: 'mcp.server.register', limit: settingsMax }),
    ledger.settings({ action: 'sandbox.grant.create', limit: settingsMax }),
  ]);
  const networks = new Map(grants.map(({ intent: { facts } }) => [facts['grant_hash'], networkIn(facts['terms'])]));
  return {
    addressOf: (serverId, atMs) => {
      // Sorted newest first, so the first match was current at the decision.
      const current = servers.find(
        ({ intent: { facts }, created_at: at }) => facts['server_id'] === serverId && Date.parse(at) <= atMs,
      );
      const url = memberOf(current?.intent.facts['config'], 'url');
      return typeof url === 'string' ? url : null;
    },
    networkOf: (hash) => networks.get(hash) ?? [],
  };
}

function networkIn(terms: unknown): string[] {
  const network = memberOf(terms, 'network');
  return Array.isArray(network) ? network.filter((one) => typeof one === 'string') : [];
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
