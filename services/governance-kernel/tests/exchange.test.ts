import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { kernelApprovalResolved } from '@countersign/contracts/governance-kernel';
import { ack, openBus, type MessageBus } from '@countersign/messaging';
import { removeTopology } from '@countersign/messaging/testing';
import { messagingTransaction } from '../src/store/messages.ts';
import { asked, Caller, newSession } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { until } from './_kernel-process.ts';

const amqpUrl = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
const exchange = `countersign-test-${randomBytes(6).toString('hex')}`;
const queue = `${exchange}.listener`;

let test: TestKernel;
let listener: MessageBus;
beforeAll(async () => {
  test = await startTestKernel({ env: { AMQP_URL: amqpUrl, GOV_AMQP_EXCHANGE: exchange } });
  await test.activate('*', starterPolicy);
  listener = openBus({ amqpUrl, exchange, name: 'listener', report: () => undefined });
});
afterAll(async () => {
  await listener.close();
  await test.close();
  await removeTopology(amqpUrl, { exchange, queues: [queue] });
});

describe('GOV_AMQP_EXCHANGE', () => {
  it('names the exchange that the kernel publishes to', async () => {
    const heard: string[] = [];
    const consumer = listener.consume({
      queue,
      events: [kernelApprovalResolved],
      transaction: messagingTransaction(test.kernel.context.transaction),
      acts: 'outside-transaction',
      handler: (event) => {
        heard.push(event.data.approval_id);
        return Promise.resolve(ack);
      },
    });
    await consumer.subscribed;
    const agent = new Caller(test, 'acme');
    const decided = await agent.decide({ tool: 'pay.send', effect_level: 'E1', session_id: newSession() });
    await new Caller(test, 'acme', 'alice').move('approve', asked(decided));
    await until(() => Promise.resolve(heard.length > 0), 10_000);
    expect(heard).toEqual([asked(decided)]);
  });
});
