import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { reaching, until } from '@countersign/testkit/until';
import { runEnqueued } from '@countersign/contracts/gateway';
import type { TestDatabase } from '@countersign/database/testing';
import { startOtlpCollector, type OtlpCollector } from '@countersign/testkit/otlp-collector';
import type { StartedGateway } from '../src/index.ts';
import {
  runReaching,
  signInAs,
  startRun,
  startTestGateway,
  testConfig,
  testDatabase,
  testExchange,
} from './_gateway.ts';
import { KernelStub } from './_kernel-stub.ts';

const amqpUrl = process.env['AMQP_URL'];

/** The spans of the request that began a run, of its event and of its job. */
function spansOfRun(spans: ReturnType<OtlpCollector['spans']>) {
  const request = spans.find(({ fields }) => fields['countersign.operation'] === 'run-task');
  const created = spans.find(({ name, traceId }) => name.startsWith('create run.') && traceId === request?.traceId);
  const processed = spans.find(
    ({ name, parentSpanId }) =>
      name.startsWith('process run.') && created !== undefined && parentSpanId === created.spanId,
  );
  return { request, created, processed };
}

/** Tests run with and without a broker. */
const buses = [null, ...(amqpUrl === undefined ? [] : [amqpUrl])];

describe.each(buses)('a run over the bus %#', (url) => {
  let database: TestDatabase;
  let gateway: StartedGateway;
  let collector: OtlpCollector;
  let run: Awaited<ReturnType<typeof runReaching>>;
  const kernel = new KernelStub();
  const broker = url === null ? null : testExchange(url);

  beforeAll(async () => {
    database = await testDatabase();
    collector = await startOtlpCollector();
    await kernel.start();
    const config = testConfig(database, {
      GOV_GOVERNANCE_URL: kernel.url,
      GOV_TRUSTED_PUBLIC_KEYS: kernel.publicKey,
      GOV_GATEWAY_HEALTH_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      ...(broker === null ? {} : { AMQP_URL: broker.amqpUrl, GOV_AMQP_EXCHANGE: broker.exchange }),
    });
    gateway = await startTestGateway(config);
    await gateway.subscribed;
    const ada = await signInAs(gateway.url, 'ada@example.org');
    const started = await startRun(ada);
    run = await runReaching(ada, started.taskId);
  });
  afterAll(async () => {
    await gateway?.stop();
    await kernel.kill();
    await collector?.close();
    await broker?.remove();
    await database?.drop();
  });

  it('is one trace, from the first request to the call of the kernel', async () => {
    expect([run.status, run.error]).toEqual(['completed', null]);
    const exported = async () => {
      await gateway.context.telemetry.flush();
      return collector.spans();
    };
    // The job ends shortly after its run, and the queue may have other jobs.
    const { request, created, processed } = await reaching(
      async () => spansOfRun(await exported()),
      (seen) => seen.processed !== undefined,
    );
    const spans = collector.spans();
    expect([request?.kind, created?.kind, processed?.kind]).toEqual([2, 4, 5]);
    expect(created?.parentSpanId).toBe(request?.spanId);
    expect(processed?.traceId).toBe(request?.traceId);
    const requests = kernel.traces.filter(({ path }) => path === '/v1/chat/completions');
    expect(requests.map(({ traceparent }) => traceparent)).toEqual([
      `00-${processed?.traceId}-${processed?.spanId}-01`,
    ]);
    expect(spans.every(({ fields }) => fields['countersign.authoritative'] === false)).toBe(true);
    expect(collector.received().toString('latin1')).not.toMatch(/ada@example|Bearer/);
  });

  it('is counted for Prometheus on a separate port, and not on the public one', async () => {
    const text = await (await fetch(`${gateway.healthUrl}/metrics`)).text();
    expect(text).toMatch(/countersign_http_request_duration_seconds_count\{operation="run-task",status="\d+"\} 1/);
    expect((await fetch(`${gateway.healthUrl}/health/live`)).status).toBe(200);
    const page = await fetch(`${gateway.healthUrl}/`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('/health/ready')]);
    expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404);
  });

  it('without a handler is visible in the metrics, and the service stays ready', async () => {
    const watched = async () => {
      const ready = await fetch(`${gateway.healthUrl}/health/ready`);
      const { checks } = (await ready.json()) as { checks: Record<string, string> }; // an answer of the gateway
      const metrics = await (await fetch(`${gateway.healthUrl}/metrics`)).text();
      return [
        ready.status,
        checks['dead_letters'],
        /^countersign_dead_letters(?:\{[^}]*\})? (\d+)/m.exec(metrics)?.[1],
      ];
    };
    expect(await watched()).toEqual([200, 'none', '0']);
    const { bus } = gateway.context;
    await bus.publish([{ id: 'broken', type: runEnqueued.type, body: '{"no":"event"}', needsConsumer: true }]);
    await until(async () => (await bus.countDeadLetters()) === 1);
    expect(await watched()).toEqual([200, 'down', '1']);
  });
});
