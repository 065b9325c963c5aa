import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fenceSet, kernelApprovalRequested, kernelApprovalResolved } from '@countersign/contracts/governance-kernel';
import { ack, eventFactory, messagingTransaction, openBus, type MessageBus } from '@countersign/messaging';
import { removeTopology } from '@countersign/messaging/testing';
import { untilReachable } from '@countersign/testkit/until';
import { send, Caller, newSession } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';

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
  await removeTopology(amqpUrl, { exchange, queues: [queue, `${exchange}.governance-kernel.fences`] });
});

describe('GOV_AMQP_EXCHANGE', () => {
  it('names the exchange where the kernel publishes each approval request and each resolution once', async () => {
    const heard: string[] = [];
    const hear = ({ type, data }: { type: string; data: { approval_id: string } }) => {
      heard.push(`${type} ${data.approval_id}`);
      return Promise.resolve(ack);
    };
    const consumer = listener.consume({
      queue,
      events: [kernelApprovalRequested, kernelApprovalResolved],
      transaction: messagingTransaction(test.kernel.context.transaction),
      acts: 'outside-transaction',
      handler: hear,
    });
    await consumer.subscribed;
    const agent = new Caller(test, 'acme');
    const call = { tool: 'pay.send', effect_level: 'E1', session_id: newSession() };
    const id = send(await agent.decide(call));
    expect(send(await agent.decide(call))).toBe(id);
    const body = { ...call, action: 'tool.call', session_id: newSession(), reason: 'soon' } as never; // plain strings instead of branded ones
    const beforehand = (await agent.client.createApproval({ body })).body.approval_id;
    await new Caller(test, 'acme', 'alice').move('approve', id);
    await untilReachable(() => Promise.resolve(heard.length > 2));
    expect(heard.sort()).toEqual(
      [`requested.v1 ${id}`, `requested.v1 ${beforehand}`, `resolved.v1 ${id}`]
        .map((message) => `kernel.approval.${message}`)
        .sort(),
    );
  });

  it('names the exchange where the kernel receives commands, and malformed commands become dead letters', async () => {
    await test.kernel.workers.subscribed;
    const scope = 'tenant:told-by-broker';
    const command = { scope, kind: 'freeze', epoch: 7, reason: 'a leak', set_by: 'olga' } as never; // the schema fills in the defaults
    const { event } = eventFactory({ source: '/control-plane' })(fenceSet, command);
    const send = async (report: object, id: string) =>
      await listener.publish([{ id, type: event.type, body: JSON.stringify(report), needsConsumer: true }]);
    await untilReachable(async () => (await send({ ...event, data: { scope } }, 'evt_none')).unroutable.length === 0);
    await send(event, event.id);
    await send(event, event.id);
    const agent = new Caller(test, 'told-by-broker');
    await untilReachable(async () => (await agent.decide({ tool: 'files.read' })).reason_code === 'SYSTEM_FROZEN');
    const { body } = await test.system.getFence({ params: { scope } });
    expect(body).toMatchObject({ kind: 'freeze', epoch: 7, set_by: 'olga' });
    const { bus } = test.kernel.context;
    await untilReachable(async () => (await bus.redrive(`${exchange}.governance-kernel.fences`)) > 0);
  });
});
