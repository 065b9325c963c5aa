import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import type { Judgeable } from '../src/decision/conclude-call.ts';
import { governed, memoryBoundary } from './_memory-boundary.ts';

/** Functions of V8 itself, which are parsed only after this flag is set. */
function natives() {
  setFlagsFromString('--allow-natives-syntax');
  try {
    const isFast = runInThisContext('(object) => %HasFastProperties(object)') as (object: object) => boolean; // V8's
    const isSameShape = runInThisContext('(a, b) => %HaveSameMap(a, b)') as (a: object, b: object) => boolean; // V8's
    // A function is compiled when it is first called.
    if (!isFast({}) || isSameShape({ a: 1 }, { b: 1 })) throw new Error('V8 answers otherwise than expected');
    return { isFast, isSameShape };
  } finally {
    setFlagsFromString('--no-allow-natives-syntax');
  }
}

const modelCall = governed({ kind: 'model', model: 'small', args: { hosted_tools: ['search.web'] } });
/** Calls of each kind, with and without the members that are optional. */
const calls = [
  governed(),
  governed({ tool: 'pay.invoice', args: { amount: 5 }, effectLevel: 'E3' }),
  governed({ tool: 'shell.run' }),
  modelCall,
  governed({ kind: 'custom', action: 'agent.spawn', tool: null, resource: 'agent:helper', args: {} }),
  governed({ kind: 'custom', action: 'data.egress', tool: null, resource: 'https://example.com', args: {} }),
  governed({ mode: 'shadow', context: { purpose: 'test' } }),
];

describe('the objects of a decision', () => {
  it('have fast properties and one shape each, whatever the call is', async () => {
    const { isFast, isSameShape } = natives();
    const seen: Judgeable[] = [];
    const { boundary, ledger } = memoryBoundary({
      settings: {
        priceCurrency: 'EUR',
        spoil: (judged) => {
          seen.push(judged);
          return judged;
        },
      },
    });
    for (const call of calls) await boundary.decide(call);
    // The kernel pays for this call, so its facts have a currency.
    // @ts-expect-error -- the class of claims has a private member and is not exported
    await boundary.decideDispatched(modelCall, { isTo: () => true });
    expect(new Set(seen.map(({ facts }) => facts.priced_in))).toEqual(new Set([undefined, 'EUR']));
    const [first] = seen;
    for (const { facts, intent } of seen) {
      expect(first !== undefined && isSameShape(facts, first.facts) && isFast(facts)).toBe(true);
      expect(first !== undefined && isSameShape(intent, first.intent) && isFast(intent)).toBe(true);
    }
    for (const entry of ledger.log) expect(isFast(entry) && isFast(entry.payload)).toBe(true);
  });
});
