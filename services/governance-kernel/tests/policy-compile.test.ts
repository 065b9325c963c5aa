import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parsePolicyBundle } from '@countersign/policy';
import { leastWorkMs } from '@countersign/testkit/worked';
import { Caller, answerOf } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
});
afterAll(() => test.close());

const rules = Array.from({ length: 5_000 }, (_, nth) => ({
  ...{ id: `r${nth}`, effect: 'allow', match: { tool: [`tool-${nth}`] } },
  // The condition is long, so that compiling takes several turns even on a fast, warmed-up machine.
  when: `args.amount == ${nth} || (args.to == "${nth}" && args.of.exists(one, one == ${nth} && one > 0))`,
}));
const large = JSON.stringify({ format: 'countersign/policy.v1', name: 'large', version: '1', rules });

/** Counts the turns of the event loop that other code gets until `work` ends. */
async function turnsDuring<Result>(work: Promise<Result>): Promise<number> {
  let turns = 0;
  let ended = false;
  void work.finally(() => (ended = true));
  while (!ended) {
    await new Promise(setImmediate);
    turns += 1;
  }
  await work;
  return turns;
}

it('compiling a bundle of 5,000 rules does not block the event loop, even when the kernel reloads it', async () => {
  const { policies } = test.kernel.context;
  expect(await turnsDuring(policies.compile(parsePolicyBundle(large)))).toBeGreaterThan(10);
  await test.activate('acme', large);
  expect(await turnsDuring(policies.reload('acme'))).toBeGreaterThan(10);
});

it('calls that wait for the same bundle compile it only once', async () => {
  await test.activate('globex', large);
  const agent = new Caller(test, 'globex');
  const worked = await leastWorkMs(async () => {
    const calls = Array.from({ length: 40 }, () => agent.decide({ tool: 'tool-7', args: { amount: 7 } }));
    const replies = await Promise.all(calls);
    expect(new Set(replies.map(answerOf))).toEqual(new Set(['ALLOW ALLOWED']));
  });
  // The policy is compiled only once. Compiling it for each of the forty calls would take more than ten seconds.
  expect(worked).toBeLessThan(4_000);
});
