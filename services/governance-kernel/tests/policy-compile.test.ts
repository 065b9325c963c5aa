import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parsePolicyBundle } from '@countersign/policy';
import { Caller, said } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
});
afterAll(() => test.close());

const rules = Array.from({ length: 5_000 }, (_, nth) => ({
  ...{ id: `r${nth}`, effect: 'allow', match: { tool: [`tool-${nth}`] } },
  // Long enough that compiling takes its turns on a fast machine too, whatever it has compiled before.
  when: `args.amount == ${nth} || (args.to == "${nth}" && args.of.exists(one, one == ${nth} && one > 0))`,
}));
const large = JSON.stringify({ format: 'countersign/policy.v1', name: 'large', version: '1', rules });

/** The number of turns that other work had during this. */
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

it('a bundle of 5,000 rules lets others in while it is compiled, however it comes', async () => {
  const { policies } = test.kernel.context;
  expect(await turnsDuring(policies.compile(parsePolicyBundle(large)))).toBeGreaterThan(10);
  await test.activate('acme', large);
  expect(await turnsDuring(policies.reload('acme'))).toBeGreaterThan(10);
});

it('many who wait for a bundle compile it once', async () => {
  await test.activate('globex', large);
  const agent = new Caller(test, 'globex');
  const startedMs = process.cpuUsage().user;
  const replies = await Promise.all(
    Array.from({ length: 40 }, () => agent.decide({ tool: 'tool-7', args: { amount: 7 } })),
  );
  expect(new Set(replies.map(said))).toEqual(new Set(['ALLOW ALLOWED']));
  // Forty times would be ten seconds and more.
  expect((process.cpuUsage().user - startedMs) / 1_000).toBeLessThan(4_000);
});
