import { describe, expect, it } from '@jest/globals';
import type { Door } from '@countersign/contracts';
import type { GateOutcome, ReceiptPayload, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { secondsBounds, type Meter, type SpanFields, type Tracer } from '@countersign/service-kit';
import { decisionTelemetry } from '../src/decision/decision-telemetry.ts';
import { toldReceipt } from '../src/decision/told-receipt.ts';
import { acme, agent } from './_batch.ts';

const payload = {
  ...{ decision_id: 'dec_1', receipt_id: 'rcp_1', kind: 'decision', verdict: 'DENY', reason_code: 'POLICY_DENIED' },
  ...{ action: 'tool.call', tool: 'files.read', effect_level: 'E1', policy_epoch: 3, policy_hash: 'sha256:p' },
  ...{ shadow: false, record_hash: 'sha256:r', issued_at: '2026-11-21T10:00:00.000Z' },
} as unknown as ReceiptPayload; // nothing else is read
const fields = {
  'countersign.decision.id': 'dec_1',
  'countersign.receipt.id': 'rcp_1',
  'countersign.verdict': 'DENY',
  'countersign.reason_code': 'POLICY_DENIED',
  'countersign.action': 'tool.call',
  'countersign.effect_level': 'E1',
  'countersign.policy.epoch': 3,
  'countersign.policy.hash': 'sha256:p',
  'countersign.shadow': false,
  'gen_ai.tool.name': 'files.read',
};
const { 'gen_ai.tool.name': _tool, ...withoutTool } = fields;

describe('a receipt that is exported to telemetry', () => {
  const reportOf = (change: Partial<ReceiptPayload>) =>
    toldReceipt({ payload: { ...payload, ...change }, receipt_hash: 'sha256:h' } as StoredReceipt);
  const proof = {
    'countersign.receipt.kind': 'decision',
    'countersign.receipt.hash': 'sha256:h',
    'countersign.record.hash': 'sha256:r',
  };

  it('has the content and the hashes of the decision, at its own time', () => {
    const at = new Date('2026-11-21T10:00:00.000Z');
    expect(reportOf({})).toEqual({ name: 'receipt', at, fields: { ...fields, ...proof } });
  });

  it('has no tool and no policy when there are none', () => {
    const bare = { ...withoutTool, 'countersign.policy.hash': 'none', ...proof };
    expect(reportOf({ tool: null, policy_hash: null }).fields).toEqual(bare);
  });
});

const gate = (name: string, outcome: GateOutcome['outcome']) =>
  ({ gate: name, outcome, reason_code: null }) as unknown as GateOutcome; // nothing else is read

type Span = { name: string; kind: string; fields?: SpanFields; startedAtMs: number; endedAtMs: number };

/** The values that the instruments of a kernel received. */
function listening(hasTracer: boolean) {
  const report = {
    instruments: [] as unknown[],
    counted: [] as unknown[],
    timed: [] as unknown[],
    spans: [] as Span[],
  };
  const meter: Pick<Meter, 'counter' | 'histogram'> = {
    counter: (instrument) => {
      report.instruments.push(instrument);
      return (labels) => void report.counted.push(labels);
    },
    histogram: (instrument) => {
      report.instruments.push(instrument);
      return (value, labels) => void report.timed.push([value, labels]);
    },
  };
  const tracer: Pick<Tracer, 'record'> = { record: (name, terms) => void report.spans.push({ name, ...terms }) };
  const deps = { meter: meter as Meter, tracer: hasTracer ? (tracer as Tracer) : null }; // only these methods are called
  const tell = decisionTelemetry(deps);
  const decided = (change: Partial<ReceiptPayload>, door?: Door, trace: GateOutcome[] = []) =>
    tell({
      ...{ caller: { tenant: acme, principal: agent, scopes: [], door }, trace },
      ...{ payload: { ...payload, ...change }, startedAtMs: 1_000, endedAtMs: 1_250 },
    });
  return { told: report, decided };
}

describe('a decision', () => {
  it('is counted by verdict, reason, route and mode, and timed by route, in seconds', () => {
    const { told, decided } = listening(false);
    const [denied, allowed] = [
      { verdict: 'DENY', reason_code: 'POLICY_DENIED' },
      { verdict: 'ALLOW', reason_code: 'ALLOWED' },
    ] as const;
    decided(denied, 'chat');
    decided(denied, 'mcp');
    decided(denied);
    decided({ ...denied, shadow: true });
    decided({ ...denied, reason_code: 'POLICY_STALE' });
    decided({ ...allowed, reason_code: 'POLICY_DENIED' });
    decided(denied, 'chat');
    expect(told.counted).toEqual([
      { ...denied, door: 'chat', mode: 'enforce' },
      { ...denied, door: 'mcp', mode: 'enforce' },
      { ...denied, door: 'none', mode: 'enforce' },
      { ...denied, door: 'none', mode: 'shadow' },
      { ...denied, reason_code: 'POLICY_STALE', door: 'none', mode: 'enforce' },
      { ...allowed, reason_code: 'POLICY_DENIED', door: 'none', mode: 'enforce' },
      { ...denied, door: 'chat', mode: 'enforce' },
    ]);
    expect(told.counted[6]).toBe(told.counted[0]); // each set of labels is made once
    const doors = ['chat', 'mcp', 'none', 'none', 'none', 'none', 'chat'];
    expect(told.timed).toEqual(doors.map((door) => [0.25, { door }]));
    expect(told.spans).toEqual([]);
  });

  it('has instruments with stable names', () => {
    expect(listening(false).told.instruments).toEqual([
      { name: 'countersign_decisions', help: 'Sealed decisions.' },
      {
        name: 'countersign_decision_duration_seconds',
        help: 'Time from a parsed call to its durable decision.',
        bounds: secondsBounds,
      },
    ]);
  });

  it.each([
    ['deny', 2],
    ['escalate', 2],
  ] as const)('is a span that names the gate that decided to %s, and the number of passed gates', (outcome, passed) => {
    const { told, decided } = listening(true);
    const before = [gate('request', 'pass'), gate('fence', 'not_applicable'), gate('policy', 'pass')];
    decided({}, 'chat', [...before, gate('rules', outcome), gate('budget', 'not_reached')]);
    const made = { 'countersign.door': 'chat', 'countersign.gates.passed': passed, 'countersign.gate': 'rules' };
    expect(told.spans).toEqual([
      { name: 'decision', kind: 'internal', fields: { ...fields, ...made }, startedAtMs: 1_000, endedAtMs: 1_250 },
    ]);
    expect(told.counted).toHaveLength(1);
  });

  it('is a span without a gate when it passed them all', () => {
    const { told, decided } = listening(true);
    decided({}, undefined, [gate('request', 'pass'), gate('fence', 'not_applicable')]);
    const made = { 'countersign.door': 'none', 'countersign.gates.passed': 1 };
    expect(told.spans.map((span) => span.fields)).toEqual([{ ...fields, ...made }]);
  });
});
