import { secondsBounds, type Labels, type Meter, type SpanFields, type Telemetry } from '@countersign/service-kit';
import type { GateOutcome, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type { Caller } from '../call/governed-call.ts';
import { receiptFields } from './told-receipt.ts';

type DecisionMade = {
  caller: Caller;
  payload: ReceiptPayload;
  trace: readonly GateOutcome[];
  /** On the clock of `performance.now()`. */
  startedAtMs: number;
  endedAtMs: number;
};

/** Called for each decision once it is durable. */
export type DecisionTelemetry = (made: DecisionMade) => void;

/** Counts and times decisions, and creates a span for each when a collector is configured. */
export function decisionTelemetry({ meter, tracer }: Pick<Telemetry, 'meter' | 'tracer'>): DecisionTelemetry {
  const measure = decisionMeasures(meter);
  if (tracer === null) return measure;
  return (made) => {
    measure(made);
    const { startedAtMs, endedAtMs } = made;
    tracer.record('decision', { kind: 'internal', fields: fieldsOf(made), startedAtMs, endedAtMs });
  };
}

function decisionMeasures(meter: Meter): DecisionTelemetry {
  const count = meter.counter({ name: 'countersign_decisions', help: 'Sealed decisions.' });
  const time = meter.histogram({
    name: 'countersign_decision_duration_seconds',
    help: 'Time from a parsed call to its durable decision.',
    bounds: secondsBounds,
  });
  const labelsOf = labelSets();
  return ({ caller, payload, startedAtMs, endedAtMs }) => {
    const labels = labelsOf(caller, payload);
    count(labels.counted);
    time((endedAtMs - startedAtMs) / 1_000, labels.timed);
  };
}

type LabelSet = { counted: Labels; timed: Labels };

/**
 * Verdicts, reason codes and routes are closed lists, so the number of label sets is bounded, and each is created
 * once.
 */
function labelSets(): (caller: Caller, payload: ReceiptPayload) => LabelSet {
  const cache = new Map<string, LabelSet>();
  return ({ door = 'none' }, { verdict, reason_code, shadow }) => {
    const key = `${door} ${reason_code} ${verdict} ${String(shadow)}`;
    const found = cache.get(key);
    if (found !== undefined) return found;
    const mode = shadow ? 'shadow' : 'enforce';
    const made = { counted: { verdict, reason_code, door, mode }, timed: { door } };
    cache.set(key, made);
    return made;
  };
}

function fieldsOf({ caller, payload, trace }: DecisionMade): SpanFields {
  const stopped = trace.find(({ outcome }) => outcome === 'deny' || outcome === 'escalate');
  return {
    ...receiptFields(payload),
    'countersign.door': caller.door ?? 'none',
    'countersign.gates.passed': trace.filter(({ outcome }) => outcome === 'pass').length,
    ...(stopped === undefined ? {} : { 'countersign.gate': stopped.gate }),
  };
}
