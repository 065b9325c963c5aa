import { describe, expect, it } from '@jest/globals';
import type { ReceiptId } from '@countersign/contracts';
import type { HostReceipt } from '@countersign/contracts/governance-kernel';
import { correlate } from '../src/evidence/host-evidence/correlate.ts';
import { isWellFormed } from '../src/evidence/host-evidence/hardware-form.ts';
import { sealedIntents, type SealedLedger } from '../src/evidence/host-evidence/sealed-intents.ts';
import { Recorder } from './_recorder.ts';

const began = Date.UTC(2026, 10, 29);
const instant = (seconds: number) => new Date(began + seconds * 1_000).toISOString();
const idOf = (name: string) => `rcp_${name.padStart(26, '0')}` as ReceiptId; // matches the schema

type Period = { from: string; to: string };
type Report = { id: string; at: number; server?: string; resource?: string; end?: number; more?: object };

/** A sealed decision with the members that are compared. */
function decided({ id, at, server, resource, more }: Report) {
  const payload = {
    ...{ kind: 'decision', verdict: 'ALLOW', shadow: false, receipt_id: idOf(id), decision_id: `dec_${id}` },
    ...{ session_id: 's1', principal_id: 'bot', issued_at: instant(at) },
  };
  const intent = { action: 'tool.call', resource: resource ?? null, facts: {} };
  const record = {
    ...{ intent, mcp_server_id: server ?? null, sandbox_grant_hash: null, created_at: instant(at), budgets: [] },
    ...more,
  };
  return { receipt: { payload, log_index: at }, record };
}

const registered = (at: number, url: string) => ({
  intent: { facts: { server_id: 'notes', config: { url } } },
  created_at: instant(at),
});

/** A ledger of these decisions, with the queries of the real ledger. */
function ledgerOf(messages: readonly Report[], servers: readonly object[] = []): SealedLedger {
  const within = (at: number, { from, to }: Period) => instant(at) >= from && instant(at) < to;
  return {
    async *decisions(period: Period) {
      yield messages.filter(({ at }) => within(at, period)).map(decided);
    },
    async *outcomes(period: Period) {
      const ended = messages.filter(({ end }) => end !== undefined && within(end, period));
      yield ended.map(({ id, end = 0 }) => ({ decision_receipt_id: idOf(id), issued_at: instant(end) }));
    },
    findDecisions: async (ids: readonly ReceiptId[]) =>
      messages.filter(({ id }) => ids.includes(idOf(id))).map(decided),
    settings: async ({ action }: { action: string }) => (action === 'mcp.server.register' ? servers : []),
  } as unknown as SealedLedger; // only the members that are read
}

const recorder = new Recorder();
const seenAt = (seconds: number, host: string): HostReceipt => {
  const [receipt] = recorder.chain('c', [
    { at: began + seconds * 1_000, host, subject: { session_id: 's1' } },
  ]).receipts;
  if (receipt === undefined) throw new Error('a chain of one');
  return receipt;
};
const found = async (ledger: SealedLedger, receipt: HostReceipt) => {
  const { intent, kind } = correlate(receipt, await sealedIntents(ledger, [receipt]));
  return [intent?.receiptId ?? null, kind];
};

describe('a decision covers events', () => {
  it('for five minutes without an outcome, and for one minute after its outcome', async () => {
    const a = { id: 'A', at: 0, resource: 'https://a.example' };
    for (const [seconds, expected] of [
      [0, idOf('A')],
      [300, idOf('A')],
      [301, null],
      [-1, null],
    ] as const)
      expect((await found(ledgerOf([a]), seenAt(seconds, 'a.example')))[0]).toBe(expected);
    const short = ledgerOf([{ ...a, end: 10 }]);
    expect(await found(short, seenAt(70, 'a.example'))).toEqual([idOf('A'), null]);
    expect(await found(short, seenAt(71, 'a.example'))).toEqual([null, 'without_intent']);
    const long = ledgerOf([{ ...a, end: 1_200 }]);
    expect(await found(long, seenAt(1_199, 'a.example'))).toEqual([idOf('A'), null]);
    expect(await found(long, seenAt(1_261, 'a.example'))).toEqual([null, 'without_intent']);
  });

  it('to the address under which its server was registered at that time', async () => {
    const servers = [registered(100, 'https://new.example:8443/mcp'), registered(0, 'https://old.example/mcp')];
    const ledger = ledgerOf(
      [
        { id: 'A', at: 50, server: 'notes' },
        { id: 'B', at: 150, server: 'notes' },
      ],
      servers,
    );
    expect(await found(ledger, seenAt(60, 'old.example'))).toEqual([idOf('A'), null]);
    expect(await found(ledger, seenAt(60, 'new.example'))).toEqual([idOf('A'), 'destination_mismatch']);
    // The server has a new host and a new port since second 100. A connection without that port does not match.
    expect(await found(ledger, seenAt(160, 'new.example'))).toEqual([idOf('B'), 'destination_mismatch']);
    expect(await found(ledgerOf([{ id: 'A', at: 50, server: 'other' }], servers), seenAt(60, 'old.example'))).toEqual([
      ...[null, 'without_intent'],
    ]);
  });

  it('not when it was only proposed', async () => {
    const proposed = { id: 'A', at: 0, resource: 'https://a.example', more: { dispatched_by: 'nobody' } };
    expect(await found(ledgerOf([proposed]), seenAt(1, 'a.example'))).toEqual([null, 'without_intent']);
  });

  it('only up to 20000 decisions: more of them are refused with LIMIT_REACHED', async () => {
    const many = Array.from({ length: 20_001 }, (_, nth) => ({ id: String(nth), at: 0 }));
    const [receipt] = [seenAt(1, 'a.example')];
    await expect(sealedIntents(ledgerOf(many), [receipt])).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
  });
});

describe('hardware evidence', () => {
  const evidence = (bytes: Buffer) => bytes.toString('base64');
  it('must have the outer form of its kind, if the kind is known', () => {
    const attest = Buffer.from('ff544347', 'hex');
    const isFormed = (kind: string, bytes: Buffer) => isWellFormed({ kind, evidence: evidence(bytes) });
    expect(isFormed('TPM2', Buffer.concat([Buffer.from([0, 4]), attest]))).toBe(true);
    expect(isFormed('AWS_NITRO', Buffer.from('d28444', 'hex'))).toBe(true);
    expect(isFormed('AWS_NITRO', Buffer.from('a10000', 'hex'))).toBe(false);
    expect(isFormed('AMD_SEV_SNP', Buffer.alloc(1183))).toBe(false);
    expect(isFormed('INTEL_TDX', Buffer.from('0300020081000000', 'hex'))).toBe(false);
    for (const kind of ['APPLE_SEP', 'OTHER', 'CONSTRUCTOR']) expect(isFormed(kind, Buffer.from('any'))).toBe(true);
    expect(isWellFormed({ kind: 'OTHER', evidence: 'AB==CD' })).toBe(false);
  });
});
