import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import type { DispatchClaim } from '../src/decision/dispatch.ts';
import type { SealedDecision } from '../src/decision/sealed-decision.ts';
import { ledgerOf, newSession } from './_caller.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { ofNoTwin } from './_twins.ts';

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', starterPolicy);
});
afterAll(() => test.close());

const heldOpen = async () => (await test.pool.query(`SELECT 1 FROM dispatches WHERE ${ofNoTwin}`)).rows.length;

/** A valid claim that other code stole from the dispatch. */
async function stolenClaim(): Promise<DispatchClaim> {
  const { boundary } = test.kernel.context;
  let stolen: DispatchClaim | null = null;
  const listening: typeof boundary = {
    ...boundary,
    decideDispatched: (call, claim) => {
      stolen = claim;
      return boundary.decideDispatched(call, claim);
    },
  };
  await decideAndDie(listening, spawnedAgent({ session: newSession() }));
  if (stolen === null) throw new Error('The dispatch claims nothing');
  return stolen;
}

type Call = ReturnType<typeof spawnedAgent>;
const around: [string, (call: Call) => Promise<SealedDecision>][] = [
  [
    'by a route that claims to be the kernel',
    // @ts-expect-error -- only the dispatch decides a call of the kernel
    (call) => test.kernel.context.boundary.decide({ ...call, mode: 'enforce', dispatchedBy: 'kernel' }),
  ],
  [
    'with an invented claim',
    // @ts-expect-error -- the class of claims has a private member and is not exported
    (call) => test.kernel.context.boundary.decideDispatched(call, { isTo: () => true }),
  ],
  [
    'with the claim to another call',
    async (call) => test.kernel.context.boundary.decideDispatched(call, await stolenClaim()),
  ],
];

describe('a call that the kernel dispatches', () => {
  for (const [how, decide] of around)
    verifies('kn.fc.bypass', `is denied with a receipt when it is requested ${how}`, async () => {
      const session = newSession();
      const { reply } = await decide(spawnedAgent({ session }));
      expect([reply.verdict, reply.reason_code]).toEqual(['DENY', 'DIRECT_UPSTREAM_BYPASS']);
      const [sealed] = await ledgerOf(test, session);
      expect([sealed?.payload.reason_code, sealed?.record?.dispatched_by]).toEqual([
        'DIRECT_UPSTREAM_BYPASS',
        'kernel',
      ]);
    });

  verifies('kn.fc.bypass', 'is allowed and recorded as open when the dispatch requests it', async () => {
    const before = await heldOpen();
    const { reply } = await decideAndDie(test.kernel.context.boundary, spawnedAgent({ session: newSession() }));
    expect([reply.verdict, await heldOpen()]).toEqual(['ALLOW', before + 1]);
  });
});
