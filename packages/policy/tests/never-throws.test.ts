import { describe, expect, it } from '@jest/globals';
import { gateOrder } from '@countersign/contracts';
import type { GateName } from '@countersign/contracts';
import { decide, failClosedCodes } from '../src/index.ts';
import type { Facts } from '../src/index.ts';
import { factsFor, intentOf, knownFact, policyOf, toolOf } from './situation.ts';

const asking = policyOf([{ id: 'ask', effect: 'escalate' }]);
const factOf: Partial<Record<GateName, keyof Facts>> = { rules: 'block', budget: 'budgets' };

function broken(): never {
  throw new Error('a fact that cannot be read');
}

/** Facts under which exactly this gate throws. */
function factsThatBreak(gate: GateName): Partial<Facts> {
  if (gate === 'arguments') {
    const tool = Object.defineProperty(toolOf({}), 'input_schema', { get: broken });
    return { registry: knownFact({ server_id: 'files', state: 'approved', tool }) };
  }
  return { [factOf[gate] ?? gate]: knownFact(new Proxy({}, { get: broken })) };
}

describe('decide', () => {
  it.each(gateOrder)('denies with the code of the gate "%s" when that gate throws', (gate) => {
    const decision = decide(asking, intentOf(), factsFor(asking, factsThatBreak(gate)));
    expect(decision).toMatchObject({ verdict: 'DENY', reason_code: failClosedCodes[gate], consumes_approval: false });
    expect(decision.reason).toContain(`"${gate}"`);
    const after = decision.trace.slice(gateOrder.indexOf(gate) + 1);
    expect(after.every(({ outcome }) => outcome === 'not_reached')).toBe(true);
  });

  it('truncates a long reason to 512 characters, without splitting a character', () => {
    const sentence = 'The destination is not allowed: .';
    const detailOf = (detail: string) => {
      const egress = knownFact({ destination: 'x', allowed: false, detail });
      const { trace, reason } = decide(asking, intentOf(), factsFor(asking, { egress }));
      return { reason, kept: trace.find(({ gate }) => gate === 'egress')?.detail ?? '' };
    };
    const whole = detailOf('x'.repeat(512 - sentence.length));
    expect(whole.kept).toBe(whole.reason);
    const long = detailOf('x'.repeat(513 - sentence.length));
    expect(long.kept).toBe(`${long.reason.slice(0, 511)}…`);
    const split = detailOf(`${'x'.repeat(511 - sentence.length)}😀😀`);
    expect(split.kept).toBe(`${split.reason.slice(0, 510)}…`);
    const early = detailOf(`😀${'x'.repeat(512)}`);
    expect(early.kept).toBe(`${early.reason.slice(0, 511)}…`);
  });
});
